//! Kind `url`: a field that names a place.

use super::text::{normal_form, write_present};
use super::{Context, FieldKind, Presence, Work, wrong_type};
use crate::error::{Problem, Refusal};
use crate::json::{Kind, Value};
use crate::normalise::{TextPolicy, trim_spaces};
use crate::ruleset::Settings;
use crate::urls::{Canonical, UrlProblem, canonical_url, redact, trace_url};

/// # Takes
/// A string.
/// # Canonical form
/// The canonical URL (`url/1`) at the ruleset's strength, by the ruleset's host rules, as a string. A string that cannot be keyed is
/// `text/1` without case folding, user and password cut out, repeated until stable; the receipt remarks why (`url-relative` …).
/// # Absent
/// A blank string.
/// # Refuses
/// Other JSON types: `wrong-type`.
#[derive(Debug)]
pub struct Url;

impl Url {
    pub(super) fn from_settings(_: &mut Settings<'_>) -> Box<dyn FieldKind> {
        Box::new(Self)
    }
}

impl FieldKind for Url {
    fn write(&self, value: Value<'_>, context: &mut Context<'_>, out: &mut Vec<u8>) -> Result<Presence, Refusal> {
        if value.kind() != Kind::String {
            return Err(wrong_type(value.kind(), "a URL as text"));
        }
        let given = value.string();
        if trim_spaces(&given).is_empty() {
            return Ok(Presence::Absent);
        }
        match keyed(&given, context) {
            Ok(canonical) => Ok(write_present(&canonical.url, out)),
            Err(problem) => {
                context.problems.add(remark(problem));
                let form = unkeyed(&given, context);
                Ok(write_present(&form, out))
            }
        }
    }
}

fn keyed<'a>(text: &'a str, context: &mut Context<'_>) -> Result<Canonical<'a>, UrlProblem> {
    match context.recorder.as_deref_mut() {
        Some(record) => trace_url(text, context.urls, record),
        None => canonical_url(text, context.urls),
    }
}

/// The form of a text without a canonical URL. Taking invisible characters out may bring a URL or a password to light, so the
/// text is looked at again until it stays as it is: a form fed again has to give itself.
fn unkeyed(given: &str, context: &mut Context<'_>) -> String {
    let Work { scratch, text: form, .. } = &mut *context.work;
    let mut text = given.to_owned();
    let mut hidden = false;
    loop {
        let shown = redact(&text);
        hidden |= *shown != *text;
        normal_form(&shown, TextPolicy::NAME, scratch, None, form);
        if *form == text {
            break;
        }
        text.clone_from(form);
        if let Ok(canonical) = canonical_url(&text, context.urls) {
            text = canonical.url.into_owned();
            break;
        }
    }
    if let Some(record) = context.recorder.as_deref_mut() {
        if hidden {
            // The text before holds a password, so that it is not told.
            record("credentials", "***", &text);
        } else if text != given {
            record("text", given, &text);
        }
    }
    text
}

fn remark(problem: UrlProblem) -> Problem {
    match problem {
        UrlProblem::Relative => Problem::UrlRelative,
        UrlProblem::Scheme => Problem::UrlScheme,
        UrlProblem::Invalid => Problem::UrlInvalid,
        UrlProblem::TooLong => Problem::UrlTooLong,
    }
}

#[cfg(test)]
mod tests {
    use crate::kinds::tests::{form, problems, quoted, steps};

    #[test]
    fn a_place_has_one_url() {
        for (given, expected) in [
            ("HTTP://E.example:80/?b=1&a=2&utm_source=x", "http://e.example/?a=2&b=1"),
            ("https://me:secret@e.example/a#top", "https://e.example/a"),
        ] {
            assert_eq!(form("url", "", &quoted(given)), quoted(expected), "{given}");
            assert!(problems("url", &quoted(given)).is_empty());
        }
        assert!(steps("url", "", "\"http://e.example/#top\"")[0].starts_with("fragment: "));
    }

    #[test]
    fn what_cannot_be_keyed_is_text_and_remarked() {
        for (given, expected, problem) in [
            ("/a  b/C", "/a b/C", "url-relative"),
            ("mailto:A@e.example", "mailto:A@e.example", "url-scheme"),
            ("ftp://me:secret@e.example/", "ftp://e.example/", "url-scheme"),
            ("http://me:secret@[::1", "http://[::1", "url-invalid"),
            ("//me:secret@e.example/a", "//e.example/a", "url-relative"),
            ("/\u{200b}/me:secret@e.example/a", "//e.example/a", "url-relative"),
            ("http://[::1\u{200b}]:80/", "http://[::1]/", "url-invalid"),
        ] {
            assert_eq!(form("url", "", &quoted(given)), quoted(expected), "{given}");
            assert_eq!(problems("url", &quoted(given)), [problem], "{given}");
        }
    }

    #[test]
    fn nothing_that_is_told_holds_a_password() {
        for given in
            ["\"//me:secret@e.example/a\"", "\"/\u{200b}/me:secret@e.example/a\"", "\"ftp://me:secret@e.example/\""]
        {
            let told = steps("url", "", given);
            assert!(told.iter().all(|step| !step.contains("secret")), "{told:?}");
        }
    }

    #[test]
    fn other_types_and_blanks() {
        for (given, expected) in [
            ("\" \"", "absent"),
            ("\"\u{200b}\"", "absent"),
            ("1", "wrong-type"),
            ("null", "absent"),
            ("{}", "wrong-type"),
        ] {
            assert_eq!(form("url", "", given), expected, "{given}");
        }
    }
}
