//! The closed sets of codes: what a record can be refused for, and what a receipt can remark.
//!
//! A change of these lists is a change of the specification (`spec/keys-1.md`, "Codes").

/// Declares a closed set of codes with their text forms, in the order of the specification.
macro_rules! codes {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum $name { $($(#[$doc])* $variant,)* }

        impl $name {
            /// Every member of the set, in the order of the specification.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The text form used in receipts, refused lines and errors.
            #[must_use]
            pub const fn code(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
}
pub(crate) use codes;

codes! {
    /// Why a line or record was set aside. Nothing of it was judged.
    Code {
        /// The line is not UTF-8 (RFC 3629).
        InvalidUtf8 = "invalid-utf8",
        /// The line is not one JSON text (RFC 8259), NaN and Infinity included.
        InvalidJson = "invalid-json",
        /// A `\u` escape of a surrogate without its partner (RFC 7493 §2.1).
        UnpairedSurrogate = "unpaired-surrogate",
        /// A member name stands twice in one object, after unescaping (RFC 7493 §2.3).
        RepeatedMember = "repeated-member",
        /// Nested deeper than 128 levels.
        TooDeep = "too-deep",
        /// JSON, but not an object.
        NotAnObject = "not-an-object",
        /// Longer than the line limit of the run.
        LineTooLong = "line-too-long",
        /// A table row with more or fewer cells than the header.
        RaggedRow = "ragged-row",
        /// A line of a table whose quotes do not work out (RFC 4180 §2).
        InvalidCsv = "invalid-csv",
        /// A row of a table with bytes that the declared encoding does not have.
        InvalidEncoding = "invalid-encoding",
        /// The record already carries `_seen`.
        SeenMember = "seen-member",
        /// A binary floating-point value where an exact one is needed.
        Float = "float",
        /// More than 1,000 digits when written out.
        NumberTooLong = "number-too-long",
        /// Text that is not a number by the closed grammar.
        BadNumber = "bad-number",
        /// A JSON type that the field's kind does not take.
        WrongType = "wrong-type",
        /// Text that is no amount of money.
        BadMoney = "bad-money",
        /// Money whose decimal sign was not declared, or whose grouping is wrong.
        AmbiguousMoney = "ambiguous-money",
        /// More decimals than the currency has.
        ExcessDecimals = "excess-decimals",
        /// A currency that the pinned table does not know.
        UnknownCurrency = "unknown-currency",
        /// A currency sign that cannot mean the declared currency.
        CurrencyConflict = "currency-conflict",
        /// A time without a zone, and none declared.
        NoZone = "no-zone",
        /// Text that is no point in time by the closed grammar.
        BadTimestamp = "bad-timestamp",
        /// Text that is no date by the closed grammar.
        BadDate = "bad-date",
        /// A payload declared as base64 that is not (RFC 4648 §4).
        BadBase64 = "bad-base64",
        /// No identity at all, and the ruleset says to refuse such records.
        NoIdentity = "no-identity",
    }
}

codes! {
    /// What a receipt remarks about a record that was judged all the same.
    Problem {
        /// An identifier whose check digit is wrong; kept as a code.
        BadCheckDigit = "bad-check-digit",
        /// A `fetched_at` that cannot be read.
        BadFetchedAt = "bad-fetched-at",
        /// An HTML entity was left after decoding once.
        EntityResidue = "entity-residue",
        /// The WHATWG parser refuses the URL.
        UrlInvalid = "url-invalid",
        /// The URL has no scheme.
        UrlRelative = "url-relative",
        /// A scheme other than http and https.
        UrlScheme = "url-scheme",
        /// Over 64 KiB of UTF-8.
        UrlTooLong = "url-too-long",
    }
}

/// The problems of one record: a set, listed in alphabetical order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Problems(u8);

impl Problems {
    /// Adds one problem; adding it again changes nothing.
    pub fn add(&mut self, problem: Problem) {
        self.0 |= 1 << problem as u8;
    }

    /// True where nothing was remarked.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The problems in alphabetical order, which is that of [`Problem::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Problem> {
        Problem::ALL.iter().copied().filter(move |problem| self.0 & (1 << *problem as u8) != 0)
    }
}

/// A record that was refused: the code, the field where that is known, and a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {detail}", code.code())]
pub struct Refusal {
    /// Which of the closed set.
    pub code: Code,
    /// The identity field or payload that was refused; none where the line as a whole was.
    pub field: Option<Box<str>>,
    /// What is wrong, in words, without the value itself.
    pub detail: Box<str>,
}

impl Refusal {
    /// A refusal of the line as a whole.
    #[must_use]
    pub fn line(code: Code, detail: impl Into<Box<str>>) -> Self {
        Self { code, field: None, detail: detail.into() }
    }

    /// The same refusal, said of `field`.
    #[must_use]
    pub fn at(self, field: &str) -> Self {
        let detail = format!("field \"{field}\": {}", self.detail).into();
        Self { field: Some(field.into()), detail, ..self }
    }
}
