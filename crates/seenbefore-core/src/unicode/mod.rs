//! The character properties that decide bytes of keys, all of one Unicode version.
//!
//! Keys must not change because a compiler was upgraded, so nothing here asks Rust's own `char` properties, whose Unicode
//! version moves with the toolchain. Sets that the rule `text/1` spells out are spelt out; everything else is the compiled
//! data of the exactly pinned `icu_*` crates. Characters that this version does not assign have no property at all and pass
//! through every rule untouched.

use icu_casemap::CaseMapperBorrowed;
use icu_normalizer::properties::{
    CanonicalCombiningClassMapBorrowed, CanonicalCompositionBorrowed, CanonicalDecompositionBorrowed, Decomposed,
};
use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use icu_properties::props::{EmojiModifier, ExtendedPictographic, GeneralCategory, GeneralCategoryGroup, JoiningType};
use icu_properties::{CodePointMapData, CodePointMapDataBorrowed, CodePointSetData, CodePointSetDataBorrowed};

/// The Unicode version of every property used in keys.
pub const UNICODE_VERSION: &str = "17.0.0";

/// U+200C, the sign that keeps two joining letters apart.
pub const NON_JOINER: char = '\u{200C}';
/// U+200D, the sign that glues emoji together and shapes letters.
pub const JOINER: char = '\u{200D}';

static CATEGORIES: CodePointMapDataBorrowed<'static, GeneralCategory> = CodePointMapData::<GeneralCategory>::new();
static JOINING_TYPES: CodePointMapDataBorrowed<'static, JoiningType> = CodePointMapData::<JoiningType>::new();
static PICTOGRAPHS: CodePointSetDataBorrowed<'static> = CodePointSetData::new::<ExtendedPictographic>();
static EMOJI_MODIFIERS: CodePointSetDataBorrowed<'static> = CodePointSetData::new::<EmojiModifier>();
static COMBINING_CLASSES: CanonicalCombiningClassMapBorrowed<'static> = CanonicalCombiningClassMapBorrowed::new();
static COMPOSITIONS: CanonicalCompositionBorrowed<'static> = CanonicalCompositionBorrowed::new();
static DECOMPOSITIONS: CanonicalDecompositionBorrowed<'static> = CanonicalDecompositionBorrowed::new();
static CASES: CaseMapperBorrowed<'static> = CaseMapperBorrowed::new();

/// Normalization Form C (UAX #15).
pub static NFC: ComposingNormalizerBorrowed<'static> = ComposingNormalizerBorrowed::new_nfc();
/// Normalization Form KC (UAX #15).
pub static NFKC: ComposingNormalizerBorrowed<'static> = ComposingNormalizerBorrowed::new_nfkc();
/// Normalization Form D (UAX #15).
pub static NFD: DecomposingNormalizerBorrowed<'static> = DecomposingNormalizerBorrowed::new_nfd();

/// Whether `c` is a space: `White_Space` (UAX #44), and U+001C to U+001F, which some languages split at and others don't.
#[must_use]
pub const fn is_space(c: char) -> bool {
    matches!(
        c,
        '\u{09}'..='\u{0D}'
            | '\u{1C}'..='\u{20}'
            | '\u{85}'
            | '\u{A0}'
            | '\u{1680}'
            | '\u{2000}'..='\u{200A}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{202F}'
            | '\u{205F}'
            | '\u{3000}'
    )
}

/// Whether `c` shows nothing and means nothing in plain text, so that `text/1` removes it.
///
/// C1 controls, U+FFFD, Hangul fillers, U+2800, U+FE00 to U+FE0D and U+E0100 to U+E01EF are not in the set: a reader can see
/// the difference, or it is evidence of a damaged text. Joiners and tags are judged by their context instead.
#[must_use]
pub const fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{00}'..='\u{08}'
            | '\u{0E}'..='\u{1B}'
            | '\u{7F}'
            | '\u{AD}'
            | '\u{034F}'
            | '\u{061C}'
            | '\u{180E}'
            | '\u{200B}'
            | '\u{200E}'
            | '\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{FE0E}'
            | '\u{FE0F}'
            | '\u{FEFF}'
            | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0001}'
    )
}

/// Whether `c` is U+200C or U+200D.
#[must_use]
pub const fn is_joiner(c: char) -> bool {
    matches!(c, NON_JOINER | JOINER)
}

/// Whether `c` is a tag character, U+E0020 to U+E007F.
#[must_use]
pub const fn is_tag(c: char) -> bool {
    matches!(c, '\u{E0020}'..='\u{E007F}')
}

/// `Canonical_Combining_Class`: 0 for what starts a combining sequence.
#[must_use]
pub fn combining_class(c: char) -> u8 {
    COMBINING_CLASSES.get_u8(c)
}

/// The one character that NFC makes of a starter and the character directly after it, if it does.
#[must_use]
pub fn compose_pair(starter: char, second: char) -> Option<char> {
    COMPOSITIONS.compose(starter, second)
}

/// Whether `c` has a canonical decomposition.
#[must_use]
pub fn decomposes(c: char) -> bool {
    DECOMPOSITIONS.decompose(c) != Decomposed::Default
}

/// Whether `c` is a virama, `Canonical_Combining_Class` 9 (RFC 5892 A.1).
#[must_use]
pub fn is_virama(c: char) -> bool {
    combining_class(c) == 9
}

/// Whether `c` joins with the letter after it: `Joining_Type` L or D.
#[must_use]
pub fn joins_onward(c: char) -> bool {
    matches!(JOINING_TYPES.get(c), JoiningType::LeftJoining | JoiningType::DualJoining)
}

/// Whether `c` joins with the letter before it: `Joining_Type` R or D.
#[must_use]
pub fn joins_back(c: char) -> bool {
    matches!(JOINING_TYPES.get(c), JoiningType::RightJoining | JoiningType::DualJoining)
}

/// Whether letters join across `c` as if it were not there: `Joining_Type` T.
#[must_use]
pub fn is_transparent(c: char) -> bool {
    JOINING_TYPES.get(c) == JoiningType::Transparent
}

/// `Extended_Pictographic` (UTS #51).
#[must_use]
pub fn is_pictographic(c: char) -> bool {
    PICTOGRAPHS.contains(c)
}

/// `Emoji_Modifier` (UTS #51), the skin tones.
#[must_use]
pub fn is_emoji_modifier(c: char) -> bool {
    EMOJI_MODIFIERS.contains(c)
}

/// `General_Category` L: Lu, Ll, Lt, Lm or Lo.
#[must_use]
pub fn is_letter(c: char) -> bool {
    in_group(c, GeneralCategoryGroup::Letter)
}

/// `General_Category` M: Mn, Mc or Me.
#[must_use]
pub fn is_mark(c: char) -> bool {
    in_group(c, GeneralCategoryGroup::Mark)
}

/// `General_Category` Nd: a decimal digit of any script.
#[must_use]
pub fn is_digit(c: char) -> bool {
    CATEGORIES.get(c) == GeneralCategory::DecimalNumber
}

/// `General_Category` P: Pc, Pd, Ps, Pe, Pi, Pf or Po.
#[must_use]
pub fn is_punctuation(c: char) -> bool {
    in_group(c, GeneralCategoryGroup::Punctuation)
}

/// The simple case folding of `c`: statuses C and S of `CaseFolding.txt`, never T. Itself where it has none.
#[must_use]
pub fn fold_simple(c: char) -> char {
    CASES.simple_fold(c)
}

fn in_group(c: char, group: GeneralCategoryGroup) -> bool {
    group.contains(CATEGORIES.get(c))
}

#[cfg(test)]
mod tests;
