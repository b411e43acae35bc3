//! Data of others, read from the folder that `SEENBEFORE_SHARED` names; nothing of it is copied here.

use super::{Field, Outcome};
use serde_json::Value as Json;
use std::path::PathBuf;

/// The lines of a file of the shared folder; none, with the reason printed, where no folder is named.
fn lines(file: &str) -> Option<Vec<Json>> {
    let Some(folder) = std::env::var_os("SEENBEFORE_SHARED") else {
        eprintln!("skipped: SEENBEFORE_SHARED does not name the folder with {file}");
        return None;
    };
    let text =
        std::fs::read_to_string(PathBuf::from(folder).join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn case(id: &str) -> Option<Json> {
    let cases = lines("cases/acceptance.ndjson")?;
    Some(cases.into_iter().find(|case| case["id"] == id).unwrap_or_else(|| panic!("no case {id}")))
}

fn accepted(outcome: &Outcome) -> Option<String> {
    let form = outcome.form.clone().unwrap()?;
    outcome.problems.is_empty().then(|| serde_json::from_str(&form).unwrap())
}

#[test]
fn identifiers_are_valid_where_others_find_them_valid() {
    let Some(cases) = lines("data/conformance/ids/stdnum_cases.ndjson") else { return };
    let (mut valid, mut invalid) = (0, 0);
    for case in cases {
        let scheme = case["scheme"].as_str().unwrap();
        let kind = match scheme {
            "isbn" | "issn" => scheme,
            "ean" => "gtin",
            _ => continue,
        };
        let given = case["args"][0].as_str().unwrap();
        // Nine digits are an SBN, which has no ISBN of its own until somebody puts the zero before it.
        if case["function"] == "is_valid" && given == "12-345678-9" {
            continue;
        }
        let found = accepted(&Field::new(kind, "").text(given));
        if case["error"].is_string() && case["function"] == "validate" {
            assert_eq!(found, None, "{case}");
            invalid += 1;
        }
        let Some(result) = case["result"]
            .as_str()
            .filter(|_| matches!(case["function"].as_str(), Some("validate" | "to_isbn13" | "compact")))
        else {
            continue;
        };
        // The other library keeps an ISBN-10 and an EAN-8 at their length.
        let bare: String = result.chars().filter(|c| !matches!(c, ' ' | '-')).collect();
        let expected = accepted(&Field::new(kind, "").text(&bare));
        assert!(found.is_some() && found == expected, "{case} {found:?} {expected:?}");
        assert!(
            expected.is_some_and(|form| form.ends_with(&bare[..bare.len() - 1])
                || bare.len() == 10
                || form.ends_with(&bare)),
            "{case}"
        );
        valid += 1;
    }
    assert!(valid >= 12 && invalid >= 8, "{valid} {invalid}");
}

/// Currencies of the specification's table: decimals by code, and codes by sign.
fn currencies() -> Json {
    serde_json::from_str(include_str!("../../../../spec/tables/iso4217.json")).unwrap()
}

/// A currency that the sign or code can mean, with its decimals; euros for what the table does not know.
fn meant(table: &Json, sign: Option<&str>) -> (String, usize) {
    let sign = sign.unwrap_or_default();
    let code = table["signs"][sign][0].as_str().map_or_else(|| sign.to_ascii_uppercase(), str::to_owned);
    for rows in ["minor_units", "withdrawn"] {
        for (units, codes) in table[rows].as_object().unwrap() {
            if codes.as_array().unwrap().iter().any(|known| *known == code) {
                return (code, units.parse().unwrap());
            }
        }
    }
    ("EUR".to_owned(), 2)
}

/// `12.50` in minor units as digits without zeros before them; none where it has more decimals than that.
fn minor(amount: &str, units: usize) -> Option<String> {
    let (whole, fraction) = amount.split_once('.').unwrap_or((amount, ""));
    let fraction = fraction.trim_end_matches('0');
    let digits = format!("{whole}{fraction:0<units$}");
    (fraction.len() <= units).then(|| digits.trim_start_matches('0').to_owned())
}

/// Whether the amount's text gives the amount where `sign` is the decimal sign.
fn is_read_with(text: &str, amount: &str, sign: char) -> bool {
    let plain: String =
        text.chars().filter(|c| c.is_ascii_digit() || *c == sign).map(|c| if c == sign { '.' } else { c }).collect();
    plain.matches('.').count() <= 1 && minor(&plain, 30) == minor(amount, 30)
}

#[test]
fn prices_are_right_or_refused() {
    let Some(cases) = lines("data/conformance/price/price_parser_examples.ndjson") else { return };
    let table = currencies();
    let (mut right, mut refused, mut undeclared) = (0, 0, 0);
    for case in cases {
        let (Some(given), Some(text), Some(amount)) =
            (case["input"].as_str(), case["amount_text"].as_str(), case["amount"].as_str())
        else {
            continue;
        };
        let (code, units) = meant(&table, case["currency"].as_str());
        let expected = minor(amount, units)
            .map(|digits| format!("[\"{code}\",{}]", if digits.is_empty() { "0" } else { &digits }));
        for sign in ['.', ','] {
            if !is_read_with(text, amount, sign) {
                continue;
            }
            match Field::new("money", &format!("currency = \"{code}\"\ndecimal = \"{sign}\"")).text(given).form {
                Ok(form) => {
                    assert_eq!(form, expected, "{case}");
                    right += 1;
                }
                Err(_) => refused += 1,
            }
        }
        if let Ok(Some(form)) = Field::new("money", &format!("currency = \"{code}\"")).text(given).form {
            assert!(!text.contains(['.', ',']) && Some(form) == expected, "{case}");
            undeclared += 1;
        }
    }
    println!("{right} right, {refused} refused, {undeclared} without a declared sign");
    assert!(right > 500 && undeclared > 50, "{right} {undeclared}");
}

#[test]
fn h35_ids_stay_text_and_single_precision_is_no_decimal() {
    let Some(case) = case("H35") else { return };
    let csv = case["input"]["text"].as_str().unwrap();
    let rows: Vec<Vec<&str>> = csv.lines().skip(1).map(|row| row.split(',').collect()).collect();
    for kind in ["id", "integer"] {
        let mut ids: Vec<_> = rows.iter().filter_map(|row| Field::new(kind, "").text(row[0]).form.unwrap()).collect();
        ids.dedup();
        assert_eq!(ids.len(), 2, "{kind}: a blank cell is absent and the two long ids differ");
        assert_eq!(ids[0].trim_matches('"'), case["expected"]["csv_id_1"]);
    }
    let skus = [rows[0][1], rows[2][1]].map(|sku| Field::new("code", "").text(sku).form);
    assert_ne!(skus[0], skus[1]);
}

#[test]
fn h38_instants_are_compared_as_instants() {
    let Some(case) = case("H38") else { return };
    let field = Field::new("timestamp", "");
    for (pair, same) in
        case["input"]["field_pairs"].as_array().unwrap().iter().zip(case["expected"]["same"].as_array().unwrap())
    {
        let [a, b] = [&pair[0], &pair[1]].map(|text| field.text(text.as_str().unwrap()).form);
        assert_eq!(a == b && a.is_ok(), *same, "{pair}");
    }
    for text in case["input"]["undeclared"].as_array().unwrap() {
        for kind in ["timestamp", "date"] {
            assert!(Field::new(kind, "").text(text.as_str().unwrap()).form.is_err(), "{kind} {text}");
        }
    }
}

#[test]
fn h41_minor_units_and_declared_signs() {
    let Some(case) = case("H41") else { return };
    let (values, expected) =
        (case["input"]["values"].as_array().unwrap(), case["expected"]["minor"].as_array().unwrap());
    for (value, expected) in values.iter().zip(expected) {
        let (text, currency) = (value[0].as_str().unwrap(), value[1].as_str().unwrap());
        let decimal = value[2].as_str().map(|sign| format!("decimal = \"{sign}\"")).unwrap_or_default();
        let found = Field::new("money", &format!("currency = \"{currency}\"\n{decimal}")).text(text).form;
        match expected.as_u64() {
            Some(minor) => assert_eq!(found, Ok(Some(format!("[\"{currency}\",{minor}]"))), "{value}"),
            None => assert!(found.is_err(), "{value}"),
        }
    }
}

#[test]
fn h43_one_book_under_several_spellings() {
    let Some(case) = case("H43") else { return };
    let texts = |pair: &Json, kind: &str| [0, 1].map(|at| Field::new(kind, "").text(pair[at].as_str().unwrap()));
    for (pairs, same, kind) in [("isbn_pairs", "isbn_same", "isbn"), ("sku_pairs", "sku_same", "code")] {
        for (pair, same) in
            case["input"][pairs].as_array().unwrap().iter().zip(case["expected"][same].as_array().unwrap())
        {
            let [a, b] = texts(pair, kind);
            assert_eq!(a == b, *same, "{pair}");
            assert!(a.problems.is_empty() && b.problems.is_empty(), "{pair}");
        }
    }
    for bad in case["input"]["isbn_bad"].as_array().unwrap() {
        let found = Field::new("isbn", "").text(bad.as_str().unwrap());
        assert_eq!(found.problems, ["bad-check-digit"], "{bad}");
        assert!(found.form.is_ok_and(|form| form.is_some()), "{bad}");
    }
}
