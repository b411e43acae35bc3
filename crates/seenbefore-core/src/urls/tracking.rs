//! Step `tracking`: parameters that say where a visitor came from.

use super::parse::Parts;
use super::percent::decode;
use super::query;
use super::tracking_names::{TRACKING_NAMES, TRACKING_PREFIXES};

/// What it folds: parameters whose name is on the frozen list [`TRACKING_NAMES`] or starts with one of
/// [`TRACKING_PREFIXES`], compared after percent-decoding and whatever the case of ASCII letters.
///
/// Why: advertising and mail systems add them to links that point at the same page.
///
/// Example: `?utm_source=x&gclid=1&id=5` → `?id=5`.
///
/// What it must not fold: names that sites use for content, such as `ref`, `source`, `id`, `game`, `page` or `sort`; names
/// that only look alike, such as `utmost`.
///
/// Since: url/1, from strength `page`.
pub(super) fn remove(parts: &mut Parts<'_>) {
    query::retain(parts, |name| !is_tracking(name));
}

/// Whether the list has this name of a parameter, given as written in the query.
fn is_tracking(name: &str) -> bool {
    let name = decode(name, false);
    let listed = TRACKING_NAMES.binary_search_by(|(listed, _)| {
        listed.bytes().cmp(name.iter().map(u8::to_ascii_lowercase))
    });
    listed.is_ok()
        || TRACKING_PREFIXES.iter().any(|(prefix, _)| {
            name.get(..prefix.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(prefix.as_bytes()))
        })
}
