//! Which currencies there are, and how many minor units each has: `spec/tables/iso4217.json`, which a test holds this to.

/// The date of ISO 4217 List One that the table follows.
pub const LIST_DATE: &str = "2026-01-01";

/// Decimals of the minor unit, and the currencies that have so many, sorted. Codes without minor units (gold, XAU) are none.
pub(super) const MINOR_UNITS: &[(usize, &[&str])] = &[
    (
        0,
        &[
            "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI", "VND", "VUV", "XAF",
            "XOF", "XPF",
        ],
    ),
    (
        2,
        &[
            "AED", "AFN", "ALL", "AMD", "AOA", "ARS", "AUD", "AWG", "AZN", "BAM", "BBD", "BDT", "BMD", "BND", "BOB",
            "BOV", "BRL", "BSD", "BTN", "BWP", "BYN", "BZD", "CAD", "CDF", "CHE", "CHF", "CHW", "CNY", "COP", "COU",
            "CRC", "CUP", "CVE", "CZK", "DKK", "DOP", "DZD", "EGP", "ERN", "ETB", "EUR", "FJD", "FKP", "GBP", "GEL",
            "GHS", "GIP", "GMD", "GTQ", "GYD", "HKD", "HNL", "HTG", "HUF", "IDR", "ILS", "INR", "IRR", "JMD", "KES",
            "KGS", "KHR", "KPW", "KYD", "KZT", "LAK", "LBP", "LKR", "LRD", "LSL", "MAD", "MDL", "MGA", "MKD", "MMK",
            "MNT", "MOP", "MRU", "MUR", "MVR", "MWK", "MXN", "MXV", "MYR", "MZN", "NAD", "NGN", "NIO", "NOK", "NPR",
            "NZD", "PAB", "PEN", "PGK", "PHP", "PKR", "PLN", "QAR", "RON", "RSD", "RUB", "SAR", "SBD", "SCR", "SDG",
            "SEK", "SGD", "SHP", "SLE", "SOS", "SRD", "SSP", "STN", "SVC", "SYP", "SZL", "THB", "TJS", "TMT", "TOP",
            "TRY", "TTD", "TWD", "TZS", "UAH", "USD", "USN", "UYU", "UZS", "VED", "VES", "WST", "XAD", "XCD", "XCG",
            "YER", "ZAR", "ZMW", "ZWG",
        ],
    ),
    (3, &["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"]),
    (4, &["CLF", "UYW"]),
];

/// The same of withdrawn codes that archives still hold.
pub(super) const WITHDRAWN: &[(usize, &[&str])] = &[
    (0, &["BYR"]),
    (2, &["ANG", "BGN", "CUC", "EEK", "HRK", "LTL", "LVL", "MRO", "SKK", "SLL", "STD", "VEF", "ZMK", "ZWL"]),
];

/// How many decimals the currency's minor unit has; none for what is no currency of the table. `code` is in capitals.
pub(super) fn minor_units(code: &str) -> Option<usize> {
    let mut rows = MINOR_UNITS.iter().chain(WITHDRAWN);
    rows.find(|(_, codes)| codes.binary_search(&code).is_ok()).map(|(units, _)| *units)
}

/// Every currency of the table.
pub(super) fn codes() -> impl Iterator<Item = &'static str> {
    MINOR_UNITS.iter().chain(WITHDRAWN).flat_map(|(_, codes)| codes.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::{LIST_DATE, MINOR_UNITS, WITHDRAWN, codes, minor_units};
    use crate::kinds::money::tests::table;
    use serde_json::Value;

    #[test]
    fn the_table_is_the_specifications() {
        let table = table();
        assert_eq!(table["list_date"], LIST_DATE);
        for (name, rows) in [("minor_units", MINOR_UNITS), ("withdrawn", WITHDRAWN)] {
            let found = rows.iter().map(|(units, codes)| (units.to_string(), Value::from(codes.to_vec()))).collect();
            assert_eq!(table[name], Value::Object(found));
        }
    }

    #[test]
    fn every_code_is_found() {
        for (code, units) in [
            ("EUR", Some(2)),
            ("JPY", Some(0)),
            ("KWD", Some(3)),
            ("CLF", Some(4)),
            ("HRK", Some(2)),
            ("XAU", None),
            ("eur", None),
        ] {
            assert_eq!(minor_units(code), units, "{code}");
        }
        assert!(codes().all(|code| minor_units(code).is_some()));
    }
}
