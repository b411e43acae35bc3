//! url/1: canonical URLs stay as they are, explaining changes nothing, and no user or password is left.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seenbefore_core::urls::{Strength, UrlRules, canonical_url, redact, trace_url};

fuzz_target!(|given: &str| {
    for strength in [Strength::Exact, Strength::Page, Strength::Site] {
        let rules = UrlRules { strength, hosts: Vec::new() };
        let found = canonical_url(given, &rules);
        let traced = trace_url(given, &rules, |_, _, _| {});
        assert_eq!(found.as_ref().map(|found| &found.url).ok(), traced.as_ref().map(|traced| &traced.url).ok());
        if let Ok(found) = found {
            let again = canonical_url(&found.url, &rules).map(|again| again.url).ok();
            assert_eq!(again.as_ref(), Some(&found.url), "a canonical URL is its own");
            let authority = found.url.split("://").nth(1).and_then(|rest| rest.split(['/', '?', '#']).next());
            assert!(!authority.unwrap_or_default().contains('@'), "no user or password");
            let shown = canonical_url(&redact(given), &rules).map(|shown| shown.url).ok();
            assert_eq!(shown.as_ref(), Some(&found.url), "what is shown leads to the same place");
        }
    }
});
