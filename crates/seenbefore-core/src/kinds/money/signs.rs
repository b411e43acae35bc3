//! What currency signs can mean: `spec/tables/iso4217.json`, which a test holds this to.

/// Currencies that `$` can mean.
const DOLLARS: &[&str] = &[
    "ARS", "AUD", "BBD", "BMD", "BND", "BSD", "BZD", "CAD", "CLP", "COP", "CUP", "DOP", "FJD", "GYD", "HKD", "JMD",
    "KYD", "LRD", "MXN", "NAD", "NIO", "NZD", "SBD", "SGD", "SRD", "TTD", "TWD", "USD", "UYU", "XCD",
];
/// Currencies that `£` can mean.
const POUNDS: &[&str] = &["EGP", "FKP", "GBP", "GIP", "LBP", "SDG", "SHP", "SSP", "SYP"];
/// Currencies that `Rs` can mean.
const RUPEES: &[&str] = &["INR", "LKR", "MUR", "NPR", "PKR", "SCR"];

/// Each sign with the currencies that it can mean. Small and capital letters of a sign are as people write them.
pub(super) const SIGNS: &[(&str, &[&str])] = &[
    ("$", DOLLARS),
    ("＄", DOLLARS),
    ("US$", &["USD"]),
    ("U$S", &["USD"]),
    ("A$", &["AUD"]),
    ("AU$", &["AUD"]),
    ("C$", &["CAD", "NIO"]),
    ("CA$", &["CAD"]),
    ("NZ$", &["NZD"]),
    ("HK$", &["HKD"]),
    ("S$", &["SGD"]),
    ("NT$", &["TWD"]),
    ("MX$", &["MXN"]),
    ("R$", &["BRL"]),
    ("€", &["EUR"]),
    ("£", POUNDS),
    ("¥", &["CNY", "JPY"]),
    ("￥", &["CNY", "JPY"]),
    ("円", &["JPY"]),
    ("元", &["CNY", "HKD", "TWD"]),
    ("₩", &["KPW", "KRW"]),
    ("원", &["KPW", "KRW"]),
    ("₹", &["INR"]),
    ("₨", RUPEES),
    ("Rs", RUPEES),
    ("Rs.", RUPEES),
    ("₽", &["RUB"]),
    ("руб", &["BYN", "RUB"]),
    ("руб.", &["BYN", "RUB"]),
    ("₴", &["UAH"]),
    ("грн", &["UAH"]),
    ("грн.", &["UAH"]),
    ("₸", &["KZT"]),
    ("₼", &["AZN"]),
    ("₾", &["GEL"]),
    ("֏", &["AMD"]),
    ("лв", &["BGN"]),
    ("лв.", &["BGN"]),
    ("₺", &["TRY"]),
    ("TL", &["TRY"]),
    ("₪", &["ILS"]),
    ("₫", &["VND"]),
    ("đ", &["VND"]),
    ("₱", &["PHP"]),
    ("฿", &["THB"]),
    ("₦", &["NGN"]),
    ("₡", &["CRC"]),
    ("₲", &["PYG"]),
    ("₮", &["MNT"]),
    ("₭", &["LAK"]),
    ("៛", &["KHR"]),
    ("৳", &["BDT"]),
    ("₵", &["GHS"]),
    ("؋", &["AFN"]),
    ("﷼", &["IRR", "OMR", "QAR", "SAR", "YER"]),
    ("kr", &["DKK", "ISK", "NOK", "SEK"]),
    ("kr.", &["DKK", "ISK", "NOK", "SEK"]),
    ("zł", &["PLN"]),
    ("Kč", &["CZK"]),
    ("Ft", &["HUF"]),
    ("lei", &["MDL", "RON"]),
    ("Fr", &["CHF"]),
    ("Fr.", &["CHF"]),
    ("SFr.", &["CHF"]),
    ("R", &["ZAR"]),
    ("RM", &["MYR"]),
    ("Rp", &["IDR"]),
    ("S/", &["PEN"]),
];

/// The currencies that a sign can mean; none for what is no sign of the table.
pub(super) fn meanings(sign: &str) -> Option<&'static [&'static str]> {
    SIGNS.iter().find(|(known, _)| *known == sign).map(|(_, currencies)| *currencies)
}

#[cfg(test)]
mod tests {
    use super::SIGNS;
    use crate::kinds::money::currencies::minor_units;
    use crate::kinds::money::tests::table;
    use serde_json::Value;

    #[test]
    fn the_table_is_the_specifications() {
        let table = table();
        let found =
            SIGNS.iter().map(|(sign, currencies)| ((*sign).to_owned(), Value::from(currencies.to_vec()))).collect();
        assert_eq!(table["signs"], Value::Object(found));
        for (sign, currencies) in SIGNS {
            assert!(currencies.iter().all(|code| minor_units(code).is_some()), "{sign}");
        }
    }

    #[test]
    fn no_sign_holds_a_digit_or_looks_like_a_code() {
        for (sign, _) in SIGNS {
            assert!(!sign.contains(|c: char| c.is_ascii_digit() || c == '-' || c == '\u{2212}'), "{sign}");
            assert!(minor_units(&sign.to_ascii_uppercase()).is_none(), "{sign}");
        }
    }
}
