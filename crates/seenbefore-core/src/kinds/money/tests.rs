//! Tests of kind `money` as a whole.
#![allow(clippy::unwrap_used)] // a test stops where it finds something wrong

use crate::kinds::tests::{form, form_in, mistakes, steps};

/// The table of the specification.
pub(super) fn table() -> serde_json::Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/tables/iso4217.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn minor(value: &str, currency: &str, decimal: &str) -> String {
    let decimal = if decimal.is_empty() { String::new() } else { format!("\ndecimal = \"{decimal}\"") };
    form("money", &format!("currency = \"{currency}\"{decimal}"), value)
}

#[test]
fn one_amount_has_one_form() {
    for (value, currency, decimal, expected) in [
        ("\"1.299,00 €\"", "EUR", ",", "[\"EUR\",129900]"),
        ("\"1,299.00 EUR\"", "EUR", ".", "[\"EUR\",129900]"),
        ("\"9.9\"", "EUR", ".", "[\"EUR\",990]"),
        ("9.90", "EUR", ",", "[\"EUR\",990]"),
        ("\"\u{a5}12,100\"", "JPY", ".", "[\"JPY\",12100]"),
        ("\"12.345\"", "KWD", ".", "[\"KWD\",12345]"),
        ("\"Rs.500\"", "INR", ".", "[\"INR\",50000]"),
        ("\"Rs.500\"", "INR", "", "[\"INR\",50000]"),
        ("\"-\u{a0}5\"", "EUR", ".", "bad-money"),
        ("\"US$ -5\"", "USD", ".", "[\"USD\",-500]"),
        ("\"z\u{142} 5\"", "PLN", ".", "[\"PLN\",500]"),
        ("\"5 Kc\u{30c}\"", "CZK", ".", "[\"CZK\",500]"),
        ("-0.00", "EUR", ".", "[\"EUR\",0]"),
        ("1e2", "JPY", ".", "[\"JPY\",100]"),
        ("\" \"", "EUR", ".", "absent"),
    ] {
        assert_eq!(minor(value, currency, decimal), expected, "{value} {currency} {decimal}");
    }
    assert_eq!(steps("money", "currency = \"EUR\"", "5"), ["money: 5 > [\"EUR\",500]"]);
}

#[test]
fn what_is_not_certain_is_refused() {
    for (value, currency, decimal, expected) in [
        ("\"1.299\"", "EUR", "", "ambiguous-money"),
        ("\"12,34,567\"", "INR", ".", "ambiguous-money"),
        ("\"0,123\"", "EUR", ".", "ambiguous-money"),
        ("\"1.299,000.00\"", "EUR", ".", "ambiguous-money"),
        ("\"9.999\"", "EUR", ".", "excess-decimals"),
        ("0.1", "JPY", ".", "excess-decimals"),
        ("\"$5\"", "EUR", ".", "currency-conflict"),
        ("\"5 USD\"", "EUR", ".", "currency-conflict"),
        ("\"$1.5\"", "EUR", "", "currency-conflict"),
        ("\"10-20\"", "EUR", ".", "bad-money"),
        ("\"(5)\"", "EUR", ".", "bad-money"),
        ("\"5-\"", "EUR", ".", "bad-money"),
        ("\"12.\"", "EUR", ".", "bad-money"),
        ("\".99\"", "EUR", ".", "bad-money"),
        ("\"free\"", "EUR", ".", "bad-money"),
        ("\"1e3\"", "EUR", ".", "bad-money"),
        ("\"\u{663}\"", "EUR", ".", "bad-money"),
        ("true", "EUR", ".", "wrong-type"),
    ] {
        assert_eq!(minor(value, currency, decimal), expected, "{value} {currency} {decimal}");
    }
}

#[test]
fn long_amounts() {
    let nines = "9".repeat(999);
    assert_eq!(minor(&format!("\"{nines}\""), "JPY", "."), format!("[\"JPY\",{nines}]"));
    for (value, currency, expected) in [
        (format!("\"{nines}\""), "EUR", "number-too-long"),
        (nines.clone(), "EUR", "number-too-long"),
        (format!("{nines}.25"), "EUR", "number-too-long"),
        (format!("{nines}.255"), "EUR", "excess-decimals"),
        ("1e998".to_owned(), "EUR", "number-too-long"),
        ("1e-1000".to_owned(), "EUR", "excess-decimals"),
        ("1e9999999999999999999".to_owned(), "EUR", "number-too-long"),
    ] {
        assert_eq!(minor(&value, currency, "."), expected, "{value}");
    }
}

#[test]
fn the_currency_may_stand_in_the_record() {
    for (record, expected) in [
        ("{\"v\": 5, \"cur\": \" eur \"}", "[\"EUR\",500]"),
        ("{\"v\": 5, \"cur\": \"JPY\"}", "[\"JPY\",5]"),
        ("{\"v\": 5, \"cur\": \"XAU\"}", "unknown-currency"),
        ("{\"v\": \"x\", \"cur\": \"\"}", "unknown-currency"),
        ("{\"v\": 5, \"cur\": 978}", "unknown-currency"),
        ("{\"v\": 5}", "unknown-currency"),
        ("{\"v\": \"\"}", "absent"),
        ("{\"v\": null}", "absent"),
        ("{\"v\": true}", "wrong-type"),
    ] {
        assert_eq!(form_in(record, "money", "currency = \"cur\""), expected, "{record}");
    }
}

#[test]
fn settings_are_checked() {
    for (settings, expected) in [
        ("", "fields.v.currency: is missing"),
        (
            "currency = \"EUX\"",
            "fields.v.currency: \"EUX\" is no currency with minor units of ISO 4217 (did you mean \"EUR\"?)",
        ),
        ("currency = \"XAU\"", "fields.v.currency: \"XAU\" is no currency"),
        ("currency = 5", "fields.v.currency: a text"),
        ("currency = \"EUR\"\ndecimal = \";\"", "fields.v.decimal: "),
        (
            "currency = \"EUR\"\ndecimals = \".\"",
            "fields.v.decimals: is not a setting here (did you mean \"decimal\"?)",
        ),
    ] {
        let found = mistakes(&format!("kind = \"money\"\n{settings}"));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with(expected), "{found:?}");
    }
}
