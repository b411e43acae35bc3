//! What holds for every value.

use super::{Field, Outcome};
use proptest::prelude::*;

/// Texts over the characters that matter to identifiers, times, money and URLs.
fn nasty() -> impl Strategy<Value = String> {
    let characters = "[0-9]{0,3}[-0-9Xx _.,:/@?#%'TtZz+\u{a0}\u{2011}\u{200b}\u{ad}\u{663}\u{ff11}\u{200d}\u{94d}a\u{301}&=$€]{0,18}";
    prop_oneof![
        characters,
        "https?:/{0,3}[a-z@:.%0-9\u{200b}\\[\\]/?#;=& -]{0,24}",
        "[0-9]{4}-[0-9]{2}-[0-9]{2}[T ]?[0-9:.,Zz+-]{0,16}"
    ]
}

/// ASCII digits with a correct last one, weights 1 and 3 in turn from the right.
fn with_check_digit(digits: &str) -> String {
    let sum: u32 = digits
        .chars()
        .rev()
        .zip([3, 1].into_iter().cycle())
        .map(|(digit, weight)| digit.to_digit(10).unwrap() * weight)
        .sum();
    format!("{digits}{}", (10 - sum % 10) % 10)
}

fn inside(form: &str) -> String {
    serde_json::from_str(form).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    /// The form of a string is its own form.
    #[test]
    fn a_form_fed_again_gives_itself(text in nasty()) {
        for (kind, settings) in [
            ("isbn", ""), ("issn", ""), ("gtin", ""), ("date", ""), ("timestamp", ""), ("timestamp", "assume_offset = \"+02:00\""), ("url", ""),
        ] {
            let field = Field::new(kind, settings);
            if let Ok(Some(form)) = field.text(&text).form {
                prop_assert_eq!(field.text(&inside(&form)).form, Ok(Some(form)), "{} of {:?}", kind, text);
            }
        }
    }

    /// Numbers that are written in canonical form are read as the same.
    #[test]
    fn a_number_fed_again_gives_itself(text in "[ ]?[+-]?[0-9]{0,4}[.]?[0-9]{0,3}([eE][+-]?[0-9]{1,3})?") {
        for kind in ["integer", "decimal"] {
            let field = Field::new(kind, "");
            if let Ok(Some(form)) = field.text(&text).form {
                prop_assert_eq!(field.text(&form).form, Ok(Some(form.clone())));
                prop_assert_eq!(field.read(&format!("{{\"v\":{form}}}")).form, Ok(Some(form)));
            }
        }
    }

    /// However it is written, a wrong check digit gives no form of a valid number.
    #[test]
    fn a_wrong_check_digit_never_equals_a_valid_one(
        body in "(978[0-9]|979[1-9])[0-9]{8}|[0-9]{7}|[0-9]{11}|[0-9]{13}", wrong in 1..10_u32, gaps in prop::collection::vec(0..16_usize, 0..5),
    ) {
        let valid = with_check_digit(&body);
        let last = valid.chars().last().and_then(|digit| digit.to_digit(10)).unwrap();
        let mut spelt = format!("{body}{}", (last + wrong) % 10);
        for (count, at) in gaps.into_iter().enumerate() {
            spelt.insert_str(at.min(spelt.find(|c: char| !c.is_ascii()).unwrap_or(spelt.len())), ["-", " ", "_", "\u{2011}", "\u{200b}"][count]);
        }
        for kind in ["isbn", "gtin"] {
            let field = Field::new(kind, "");
            let (bad, good) = (field.text(&spelt), field.text(&valid));
            prop_assert_eq!(bad.problems, vec!["bad-check-digit"], "{} {:?}", kind, spelt);
            // Thirteen digits of another prefix are no ISBN whether their check digit is right or wrong.
            prop_assert!(!good.problems.is_empty() || bad.form != good.form);
            // Nor does it equal any other valid number: read again, it is wrong again.
            prop_assert_eq!(field.text(&inside(&bad.form.unwrap().unwrap())).problems, vec!["bad-check-digit"]);
        }
    }

    /// An amount that is accepted is the one that was written, under the sign that was declared.
    #[test]
    fn money_is_right_or_refused(
        whole in 0..10_000_000_u64, cents in 0..100_u64, grouped in any::<bool>(), negative in any::<bool>(), written in 0..2_usize,
        declared in 0..3_usize, space in prop::sample::select(vec![" ", "\u{a0}", "\u{202f}", "'", ","]), mark in 0..4_usize,
    ) {
        let (sign, other) = [(".", ","), (",", ".")][written];
        let space = if space == "," { other } else { space };
        let mut digits = whole.to_string();
        if grouped {
            for at in (1..digits.len()).rev().filter(|at| (whole.to_string().len() - at) % 3 == 0) {
                digits.insert_str(at, space);
            }
        }
        let minus = if negative { "-" } else { "" };
        let amount = format!("{digits}{sign}{cents:02}");
        let text = [format!("{minus}{amount}"), format!("{minus}€{amount}"), format!("{minus}{amount} EUR"), format!("€ {minus}{amount}")][mark].clone();
        let setting = ["decimal = \".\"", "decimal = \",\"", ""][declared];
        let found = Field::new("money", &format!("currency = \"EUR\"\n{setting}")).text(&text).form;
        let minor = whole * 100 + cents;
        let right = format!("[\"EUR\",{}{minor}]", if negative && minor > 0 { "-" } else { "" });
        if declared == written {
            prop_assert_eq!(found, Ok(Some(right)), "{:?}", text);
        } else {
            prop_assert_eq!(found, Err("ambiguous-money"), "{:?}", text);
        }
    }

    /// No text is read as another amount than its digits are, whatever stands around them.
    #[test]
    fn money_never_drops_or_makes_up_a_digit(text in "[-−]?[€$]?[ ]?[0-9]{1,4}[0-9., '\u{a0}]{0,8}[ ]?(EUR|€|\\$)?") {
        for setting in ["decimal = \".\"", "decimal = \",\"", ""] {
            let found = Field::new("money", &format!("currency = \"EUR\"\n{setting}")).text(&text).form;
            if let Ok(Some(form)) = found {
                let minor = form.trim_start_matches("[\"EUR\",").trim_matches(['-', ']']);
                let given: String = text.chars().filter(char::is_ascii_digit).collect();
                // Only zeros at the ends may differ: those before the first digit, and the decimals' padding.
                let bare = |digits: &str| digits.trim_matches('0').to_owned();
                prop_assert_eq!(bare(minor), bare(&given), "{:?} {}", text, setting);
            }
        }
    }

    /// The order of a set's items, and repeats among them, change nothing; those of a list do.
    #[test]
    fn sets_have_no_order(mut items in prop::collection::vec("[abAB 0-9]{0,3}", 0..6), seed in any::<prop::sample::Index>()) {
        let form = |kind: &str, items: &[String]| Field::new(kind, "").read(&format!("{{\"v\":{}}}", serde_json::json!(items)));
        let before: Outcome = form("set", &items);
        if !items.is_empty() {
            let by = seed.index(items.len());
            items.rotate_left(by);
            items.push(items[0].clone());
        }
        prop_assert_eq!(form("set", &items), before);
    }
}
