//! Laws of the URL rule, for texts made of the pieces that URLs trip over.

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use proptest::sample::select;
use seenbefore_core::urls::{
    Canonical, HostRule, PathRewrite, Strength, UrlProblem, UrlRules, canonical_url, redact, trace_url,
};

const SCHEMES: [&str; 12] = [
    "https://",
    "http://",
    "HTTPS:",
    "http:/",
    "https:\\\\",
    "ht\ttp://",
    " https://",
    "ftp://",
    "//",
    "",
    "data:",
    "https:///",
];
const CREDENTIALS: [&str; 6] = ["", "demo:pw-1234@", "demo@pw-1234@", ":pw-1234@", "demo%40:pw-1234@", "@"];
const HOSTS: [&str; 24] = [
    "e.example",
    "www.e.example",
    "www.www.E.example.",
    "www.com",
    "WWW.a..b",
    "0x7f.1",
    "www.1.2.3.4",
    "[::1]",
    "[1::1.2.3.4]",
    "t.me",
    "www.t.me",
    "wei\u{df}.example",
    "\u{39b}\u{38c}\u{393}\u{39f}\u{3a3}.example",
    "xn--wei-7ka.example",
    "%77ww.e.example",
    "e\u{ad}.example",
    "a_b.example",
    "1.e.example",
    "e.example:443",
    "e.example:80",
    "e.example:08080",
    "a b",
    "",
    "\u{5d0}.www.com",
];
const PIECES: [&str; 46] = [
    "/",
    "//",
    "\\",
    "/.",
    "/..",
    "/%2e",
    "/.%2E",
    ".",
    "/a",
    "/A%",
    "%2",
    "%",
    "4",
    "1",
    "%34%31",
    "%2%65",
    "%7e",
    "%2f",
    "%3b",
    "%5e",
    "^",
    ";jsessionid=A",
    ";JSESSIONID=",
    ";%6Asessionid=1",
    ";v=1",
    ";",
    "/index.html",
    "/index.php/",
    "/default.aspx",
    "index.htm",
    "/s/",
    "caf\u{e9}",
    "\u{1f600}",
    " ",
    "\t",
    "'",
    "\"",
    "|",
    "{",
    "[",
    "@",
    ":",
    "=",
    "!",
    "~",
    "utm_source=x",
];
const QUERIES: [&str; 24] = [
    "a=1",
    "b=2",
    "a",
    "=",
    "=x",
    "&",
    "&&",
    "a=2",
    "+",
    "%2B",
    "%20",
    "%26",
    "utm_source=x",
    "UTM%5fmedium=y",
    "utmost=1",
    "gclid",
    "x=1",
    "PHPSESSID=1",
    "jsession%69d=2",
    "q=a+b",
    "%",
    "'",
    "\u{e9}=\u{e9}",
    "/index.html",
];
const FRAGMENTS: [&str; 10] = ["", "#", "#top", "#!", "#!/a%7e", "#/a/%2e%2e", "#%2Fa", "##", "# ", "#/\u{e9}^`"];

fn texts(of: &'static [&'static str], most: usize, joiner: &'static str) -> impl Strategy<Value = String> {
    prop::collection::vec(select(of), 0..=most).prop_map(move |pieces| pieces.join(joiner))
}

fn urls() -> impl Strategy<Value = String> {
    let query = prop_oneof![Just(String::new()), texts(&QUERIES, 6, "&").prop_map(|query| format!("?{query}"))];
    let made = (
        select(&SCHEMES[..]),
        select(&CREDENTIALS[..]),
        select(&HOSTS[..]),
        texts(&PIECES, 8, ""),
        query,
        select(&FRAGMENTS[..]),
    )
        .prop_map(|(scheme, credentials, host, path, query, fragment)| {
            format!("{scheme}{credentials}{host}{path}{query}{fragment}")
        });
    // What the short cuts for plain ASCII take, and what they only just do not.
    let plain =
        "https?://(www\\.){0,2}[a-z.0-9-]{1,12}/[a-z/.;:_%-]{0,16}(/|/index\\.html)?(\\?[!-~]{0,20})?(#[!-~]{0,12})?";
    prop_oneof![6 => made, 3 => plain, 1 => "https://[a-z0-9.%-]{1,12}/\\PC{0,24}", 1 => "\\PC{0,30}"]
}

fn rules(strength: Strength, with_hosts: bool) -> UrlRules {
    let hosts = if with_hosts {
        vec![
            HostRule::new("e.example", true).unwrap().drop(vec!["x".to_owned(), "+".to_owned()]),
            HostRule::new("t.me", false)
                .unwrap()
                .paths(vec![PathRewrite::new("/s/", "/").unwrap(), PathRewrite::new("/a/", "/A/").unwrap()]),
            HostRule::new("t.me", true).unwrap().keep(vec!["a".to_owned()]),
        ]
    } else {
        Vec::new()
    };
    UrlRules { strength, hosts }
}

fn all_rules() -> impl Iterator<Item = UrlRules> {
    Strength::ALL.into_iter().flat_map(|strength| [rules(strength, false), rules(strength, true)])
}

fn canonical(text: &str, strength: Strength) -> Result<Canonical<'_>, UrlProblem> {
    canonical_url(text, &rules(strength, false))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// A canonical URL is its own canonical URL.
    #[test]
    fn idempotent(text in urls()) {
        for rules in all_rules() {
            if let Ok(once) = canonical_url(&text, &rules) {
                let twice = canonical_url(&once.url, &rules);
                prop_assert_eq!(twice.as_ref().map(|twice| &*twice.url), Ok(&*once.url));
            }
        }
    }

    /// Each strength folds what the weaker one folds, and whether a text has a key does not depend on the strength.
    #[test]
    fn strengths_are_supersets(text in urls()) {
        let [exact, page, site] = Strength::ALL.map(|strength| canonical(&text, strength));
        if let Ok(exact) = &exact {
            prop_assert_eq!(canonical(&exact.url, Strength::Page), page.clone());
        }
        if let Ok(page) = &page {
            prop_assert_eq!(canonical(&page.url, Strength::Site).map(|twice| twice.url), site.clone().map(|site| site.url));
        }
        let problem = |result: Result<Canonical, UrlProblem>| result.err();
        prop_assert_eq!(problem(exact), problem(page.clone()));
        prop_assert_eq!(problem(page), problem(site));
    }

    /// Explaining runs the same steps: the trace is a chain that ends in the canonical URL.
    #[test]
    fn trace_ends_in_the_canonical_url(text in urls()) {
        for rules in all_rules() {
            let mut last: Option<String> = None;
            let mut broken = false;
            let traced = trace_url(&text, &rules, |_, before, after| {
                broken |= last.as_deref().is_some_and(|last| last != before) || before == after;
                last = Some(after.to_owned());
            });
            prop_assert!(!broken);
            prop_assert_eq!(&traced, &canonical_url(&text, &rules));
            if let Ok(traced) = traced {
                prop_assert_eq!(last.unwrap_or(text.clone()), traced.url);
            }
        }
    }

    /// A canonical URL is ASCII, is http or https, and shows the host that is given beside it, `www.` aside.
    #[test]
    fn shape(text in urls()) {
        for rules in all_rules() {
            if let Ok(found) = canonical_url(&text, &rules) {
                prop_assert!(found.url.is_ascii());
                let rest = found.url.strip_prefix("https://").or_else(|| found.url.strip_prefix("http://"));
                prop_assert!(rest.is_some_and(|rest| rest.trim_start_matches("www.").starts_with(found.host.trim_start_matches("www."))));
            }
        }
    }

    /// Credentials are in no canonical URL, no trace and no redacted text.
    #[test]
    fn no_credentials(host in select(&HOSTS[..]), scheme in select(&SCHEMES[..]), path in texts(&PIECES, 4, "")) {
        let text = format!("{scheme}demo:pw-1234@{host}{path}");
        if scheme.is_empty() || scheme == "data:" {
            return Ok(());
        }
        prop_assert!(!redact(&text).contains("pw-1234"), "{}", redact(&text));
        for rules in all_rules() {
            let mut shown = String::new();
            let found = trace_url(&text, &rules, |_, before, after| shown.extend([before, after]));
            prop_assert!(!shown.contains("pw-1234"), "{}", shown);
            prop_assert!(!found.is_ok_and(|found| found.url.contains("pw-1234")));
        }
    }

    /// Redacting twice is redacting once, and changes nothing that the key sees.
    #[test]
    fn redact_is_idempotent(text in urls()) {
        let once = redact(&text);
        prop_assert_eq!(redact(&once), once.clone());
        if canonical(&text, Strength::Exact).is_ok() {
            prop_assert_eq!(canonical(&text, Strength::Exact), canonical(&once, Strength::Exact));
        }
    }
}
