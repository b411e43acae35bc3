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
    let same = |listed: &str, name: &[u8]| name.eq_ignore_ascii_case(listed.as_bytes());
    let start = start(&name);
    let first = STARTS.partition_point(|listed| *listed < start);
    let alike = STARTS.iter().zip(&TRACKING_NAMES).skip(first).take_while(|(listed, _)| **listed == start);
    alike.map(|(_, (listed, _))| listed).any(|listed| same(listed, &name))
        || TRACKING_PREFIXES.iter().any(|(prefix, _)| name.get(..prefix.len()).is_some_and(|start| same(prefix, start)))
}

/// The starts of [`TRACKING_NAMES`]: numbers are searched faster than texts, and stand in the same order.
static STARTS: [u64; TRACKING_NAMES.len()] = {
    let mut starts = [0; TRACKING_NAMES.len()];
    let mut at = 0;
    while at < starts.len() {
        starts[at] = start(TRACKING_NAMES[at].0.as_bytes());
        at += 1;
    }
    starts
};

/// The first eight bytes of a name in lower case, as a number.
const fn start(name: &[u8]) -> u64 {
    let mut start = [0; 8];
    let mut at = 0;
    while at < start.len() && at < name.len() {
        start[at] = name[at].to_ascii_lowercase();
        at += 1;
    }
    u64::from_be_bytes(start)
}
