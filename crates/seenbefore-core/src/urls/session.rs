//! Steps `session-query` and `session-path`: ids of a visit.

use super::parse::Parts;
use super::percent::decode;
use super::query;
use std::borrow::Cow;

/// Session parameters that name nothing else, in lower case.
const NAMES: [&[u8]; 2] = [b"jsessionid", b"phpsessid"];
/// The one session id that servers write into the path (Jakarta Servlet 6.0, 7.1.3).
const PATH_NAME: &[u8] = b"jsessionid";

/// What it folds: the parameters `jsessionid` and `PHPSESSID`, compared after percent-decoding and whatever the case.
///
/// Why: a session id names the visit, never the page.
///
/// Example: `?PHPSESSID=AB12&x=1` → `?x=1`.
///
/// What it must not fold: `sid`, `session`, `s`: sites use them for other things.
///
/// Since: url/1, from strength `page`.
pub(super) fn remove_from_query(parts: &mut Parts<'_>) {
    query::retain(parts, |name| {
        let name = decode(name, false);
        !NAMES.iter().any(|listed| name.eq_ignore_ascii_case(listed))
    });
}

/// What it folds: the path parameter `;jsessionid=…` in any segment, up to the next `;` or `/`.
///
/// Why: Java servers write the session id there when a visitor has no cookies.
///
/// Example: `/p;jsessionid=AB12/q?x=1` → `/p/q?x=1`.
///
/// What it must not fold: other path parameters; `;jsessionid` without `=`; `%3Bjsessionid=`, which is part of a name.
///
/// Since: url/1, from strength `page`.
pub(super) fn remove_from_path(parts: &mut Parts<'_>) {
    if !parts.path.contains(';') {
        return;
    }
    let path: Vec<String> = parts.path.split('/').map(without_session).collect();
    parts.path = Cow::Owned(path.join("/"));
}

fn without_session(segment: &str) -> String {
    let mut parameters = segment.split(';');
    let mut out = parameters.next().unwrap_or_default().to_owned();
    for parameter in parameters.filter(|parameter| !is_session(parameter)) {
        out.push(';');
        out.push_str(parameter);
    }
    out
}

fn is_session(parameter: &str) -> bool {
    parameter.split_once('=').is_some_and(|(name, _)| decode(name, false).eq_ignore_ascii_case(PATH_NAME))
}
