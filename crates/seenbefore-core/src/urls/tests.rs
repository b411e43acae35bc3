#![allow(clippy::unwrap_used)]

use super::*;
use crate::ruleset::Settings;

fn canonical(text: &str, strength: Strength) -> String {
    match canonical_url(text, &UrlRules { strength, hosts: Vec::new() }) {
        Ok(canonical) => canonical.url.into_owned(),
        Err(problem) => problem.code().to_owned(),
    }
}

fn page(text: &str) -> String {
    canonical(text, Strength::Page)
}

/// The steps and their published names are one list.
#[test]
fn names_are_the_steps() {
    let names: Vec<&str> = std::iter::once(parse::STEP_NAME).chain(STEPS.iter().map(|step| step.name)).collect();
    assert_eq!(names, STEP_NAMES);
}

/// The tracking list is sorted, lower case, and free of words that sites use for content.
#[test]
fn tracking_list_is_in_order() {
    assert!(TRACKING_NAMES.is_sorted_by(|a, b| a.0 < b.0));
    for (name, _) in TRACKING_NAMES.iter().chain(&TRACKING_PREFIXES) {
        assert!(
            !name.contains(|c: char| !(c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c))),
            "{name}"
        );
    }
    for (name, _) in TRACKING_NAMES {
        let written = name.replace('s', "%53").to_uppercase();
        let other = format!("https://e.example/p?x{name}=2");
        assert_eq!(page(&format!("https://e.example/p?{written}=1&x{name}=2")), other);
    }
    assert_eq!(
        page("https://e.example/p?gcli=1&gclidx=2&gclid%20=3&utm=4"),
        "https://e.example/p?gcli=1&gclid%20=3&gclidx=2&utm=4"
    );
    for word in
        ["ref", "source", "id", "game", "gallery", "reference", "page", "sort", "q", "s", "sid", "cid", "tag", "from"]
    {
        let url = format!("https://e.example/p?{word}=1");
        assert_eq!(page(&url), url);
    }
}

/// Laws that one pass of the steps would break.
#[test]
fn steps_repeat_until_stable() {
    for (text, strength, expected) in [
        ("https://e.example/%%34%31", Strength::Page, "https://e.example/%2541"),
        ("https://e.example/a/%2%65%2%65/b", Strength::Page, "https://e.example/a/%252e%252e/b"),
        ("https://e.example/a/..;jsessionid=A", Strength::Page, "https://e.example/"),
        ("https://e.example/index.html/index.html", Strength::Site, "https://e.example/"),
        ("http://e.example:443/", Strength::Site, "https://e.example/"),
        ("http://www.com/", Strength::Site, "https://www.com/"),
    ] {
        assert_eq!(canonical(text, strength), expected);
        assert_eq!(canonical(expected, strength), expected);
    }
}

/// A drive letter is nothing special in a web address.
#[test]
fn drive_letters() {
    for (path, expected) in [
        ("/C:/../a", "/a"),
        ("/x/c|/%2e%2E/a?q#f", "/x/a?q#f"),
        ("\\C:\\b\\..\\..\\", "/"),
        ("/C:/.\t./", "/"),
        ("/C:/b/.", "/C:/b/"),
        ("/C:/..", "/"),
        ("/CC:/../a", "/a"),
        ("/C:/a..b", "/C:/a..b"),
        ("?C:/../a", "/?C:/../a"),
    ] {
        assert_eq!(
            canonical(&format!(" https://e.example{path} "), Strength::Exact),
            format!("https://e.example{expected}"),
            "{path}"
        );
    }
}

/// Problems are told apart, the length first, then the scheme, then the rest.
#[test]
fn problems() {
    for (text, code) in [
        ("", "url-relative"),
        ("not a url", "url-relative"),
        ("//e.example/a", "url-relative"),
        ("/a?b=http://e.example/", "url-relative"),
        ("data:text/plain,hello", "url-scheme"),
        ("localhost:8080/a", "url-scheme"),
        ("ftp://a b/", "url-scheme"),
        ("http:", "url-invalid"),
        ("http://", "url-invalid"),
        ("https://e.example:99999/", "url-invalid"),
        ("https://a b/", "url-invalid"),
    ] {
        assert_eq!(page(text), code, "{text}");
    }
    let long = |length: usize| format!("https://e.example/{}", "a".repeat(length - "https://e.example/".len()));
    assert_eq!(page(&long(MAX_URL_BYTES)), long(MAX_URL_BYTES));
    assert_eq!(page(&long(MAX_URL_BYTES + 1)), "url-too-long");
    assert_eq!(page(&"a".repeat(MAX_URL_BYTES + 1)), "url-too-long");
    assert_eq!(page(&long(MAX_URL_BYTES - 1).replace("aaaa", "aaé")), "url-too-long", "too long in canonical form");
}

/// Host rules are applied in order at every strength, repeat, and leave other hosts alone.
#[test]
fn host_rules() {
    let rule = |host: &str, subdomains| HostRule::new(host, subdomains).unwrap();
    let hosts = vec![
        rule("t.me", false).paths(vec![PathRewrite::new("/s/", "/").unwrap()]),
        rule("straße.example", true).keep(vec!["id".to_owned()]),
        rule("e.example", false).drop(vec!["colour scheme".to_owned()]),
    ];
    for (text, exact, page) in [
        ("https://t.me/s/x?a", "https://t.me/x?a", "https://t.me/x?a="),
        ("https://t.me/s/s/s/x", "https://t.me/x", "https://t.me/x"),
        ("https://www.t.me/s/x", "https://www.t.me/s/x", "https://www.t.me/s/x"),
        (
            "https://a.STRASSE.example/?b=1&ID=2",
            "https://a.strasse.example/?b=1&ID=2",
            "https://a.strasse.example/?ID=2&b=1",
        ),
        (
            "https://a.Straße.example/?b=1&ID=2",
            "https://a.xn--strae-oqa.example/?ID=2",
            "https://a.xn--strae-oqa.example/?ID=2",
        ),
        ("https://e.example/?b&a&Colour+Scheme=1", "https://e.example/?b&a", "https://e.example/?a=&b="),
        ("https://e.example/?Colour%20Scheme=1", "https://e.example/", "https://e.example/"),
        ("https://e.example/?", "https://e.example/?", "https://e.example/"),
    ] {
        for (strength, expected) in [(Strength::Exact, exact), (Strength::Page, page)] {
            let rules = UrlRules { strength, hosts: hosts.clone() };
            assert_eq!(canonical_url(text, &rules).unwrap().url, expected, "{text} {strength}");
        }
    }
    let site = UrlRules { strength: Strength::Site, hosts };
    assert_eq!(canonical_url("http://www.t.me/s/x/", &site).unwrap().url, "https://t.me/x");
}

/// A `[[url.host]]` table becomes a rule and states what differs from the defaults, or every mistake is named with its place.
#[test]
fn host_rule_from_settings() {
    let read = |text: &str| {
        let table = text.parse().unwrap();
        let mut mistakes = Vec::new();
        let mut settings = Settings::new(&table, "url.host[0]", &mut mistakes);
        let rule = HostRule::from_settings(&mut settings);
        let stated: Vec<String> = settings.finish().stated.keys().cloned().collect();
        let paths: Vec<String> = mistakes.into_iter().map(|mistake| mistake.path).collect();
        (rule, stated, paths)
    };
    let (rule, stated, mistakes) =
        read("match = \"Shop.example\"\nsubdomains = false\nkeep = []\npath = [{ from = \"/en/\", to = \"/\" }]");
    let expected =
        HostRule::new("shop.example", false).unwrap().keep(vec![]).paths(vec![PathRewrite::new("/en/", "/").unwrap()]);
    assert_eq!(rule, Some(expected));
    assert_eq!(mistakes, Vec::<String>::new());
    assert_eq!(stated, ["keep", "match", "path"]);
    for (text, mistakes) in [
        ("keep = [\"a\"]", &["url.host[0].match"][..]),
        ("match = \"a/b\"\ndrop = [\"x\"]", &["url.host[0].match"]),
        ("match = \"a\"", &["url.host[0]."]),
        ("match = \"a\"\ndrop = []", &["url.host[0].drop"]),
        (
            "match = \"a\"\ndrop = \"x\"\nkeep = [1]\npath = []",
            &["url.host[0].keep", "url.host[0].drop", "url.host[0].path"],
        ),
        (
            "match = \"a\"\npath = [{ from = \"/\", to = \"/a/\" }, { from = \"/a/\" }]",
            &["url.host[0].path[0]", "url.host[0].path[1]"],
        ),
        ("match = \"a\"\ndrop = [\"x\"]\nkeeps = [\"y\"]", &["url.host[0].keeps"]),
    ] {
        assert_eq!(read(text).2, mistakes, "{text}");
    }
}

/// A host rule that could not work is refused when it is made.
#[test]
fn host_rule_mistakes() {
    for host in ["", "*.e.example", "https://e.example", "e.example/a", "e.example:80", "a b"] {
        assert_eq!(HostRule::new(host, false).unwrap_err().setting, "match", "{host}");
    }
    for (from, to) in [
        ("/a/", "/b/"),
        ("/a/", "/a/"),
        ("/a/", "/aa/"),
        ("a/", "/"),
        ("/a", "/"),
        ("/%61/", "/"),
        ("/a b/", "/"),
        ("/a/../", "/"),
    ] {
        assert_eq!(PathRewrite::new(from, to).unwrap_err().setting, "path", "{from}");
    }
    assert!(PathRewrite::new("/b/", "/a/").is_ok());
}

/// The trace is a chain from the text to the canonical URL, naming what changed, and never shows credentials.
#[test]
fn trace_is_a_chain() {
    let hosts = vec![HostRule::new("e.example", false).unwrap().drop(vec!["x".to_owned()])];
    let text = "HTTP://demo:pw-1234@www.E.example:443/b/..;jsessionid=1/index.html?x=1&b+c&utm_source=2&a=%7e#top";
    let rules = UrlRules { strength: Strength::Site, hosts };
    let mut told: Vec<(&str, String, String)> = Vec::new();
    let traced = trace_url(text, &rules, |step, before, after| told.push((step, before.to_owned(), after.to_owned())));
    assert_eq!(traced, canonical_url(text, &rules));
    assert_eq!(told.last().unwrap().2, traced.unwrap().url);
    assert!(
        told.iter().all(|(_, before, after)| before != after && !before.contains("pw-1234") && !after.contains("demo"))
    );
    assert!(told.windows(2).all(|pair| pair[0].2 == pair[1].1), "{told:#?}");
    let steps: Vec<&str> = told.iter().map(|(step, ..)| *step).collect();
    assert_eq!(
        steps,
        [
            "parse",
            "credentials",
            "percent-encoding",
            "query-pieces",
            "query-spaces",
            "tracking",
            "session-path",
            "query-order",
            "fragment",
            "https",
            "www",
            "index-page",
            "trailing-slash",
            "parse",
            "host-rule-1",
        ]
    );
}

/// Credentials are cut out by the parser, or by text where it refuses.
#[test]
fn redacted() {
    for (text, expected) in [
        ("https://demo:pw@E.example/a", "https://e.example/a"),
        ("https://demo@e.example/@x", "https://e.example/@x"),
        ("https://E.example/@x", "https://E.example/@x"),
        ("ssh://git@host/x.git", "ssh://host/x.git"),
        ("https:u:p@e.example/", "https://e.example/"),
        ("mailto:a@e.example", "mailto:a@e.example"),
        ("https://u:p@e.example:99999/a@b", "https://b"),
        ("https://u:pa/ss@host/", "https://host/"),
        ("https://u:p@q@a b/?c@d", "https://a b/?c@d"),
        ("//u:p@e.example/a", "//e.example/a"),
        (r"\\u:p@e.example\a", r"\\e.example\a"),
        ("//m.example/@x", "//m.example/@x"),
        ("view-source:https://u:p@h/", "view-source:https://h/"),
        ("https:/\t/u:p@e.example:99999", "https:/\t/e.example:99999"),
        ("see http://a/ and http://u:p@b/", "see http://a/ and http://b/"),
        ("a/b@c", "a/b@c"),
        ("", ""),
    ] {
        assert_eq!(redact(text), expected, "{text}");
        assert_eq!(redact(expected), expected, "{expected}");
    }
}
