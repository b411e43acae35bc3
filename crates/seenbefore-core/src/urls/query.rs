//! Steps `query-pieces`, `query-spaces`, `query-order` and `query-empty`: one spelling for one list of parameters.

use super::parse::Parts;
use std::borrow::Cow;

/// What it folds: empty pieces between `&` go; a name without a value gets its `=`.
///
/// Why: both give the same list of parameters (WHATWG URL 5.1, form-urlencoded parsing).
///
/// Example: `?a&&b=1&` → `?a=&b=1`.
///
/// What it must not fold: `?a=` and no parameter at all; `?a=1&a=1` and `?a=1`; `;`, which separates nothing.
///
/// Since: url/1, from strength `page`.
pub(super) fn pieces(parts: &mut Parts<'_>) {
    change(parts, |query| {
        let settled = query.is_empty() || query.split('&').all(|piece| piece.contains('='));
        (!settled).then(|| {
            let mut out = String::with_capacity(query.len() + 8);
            for piece in query.split('&').filter(|piece| !piece.is_empty()) {
                push(piece, &mut out);
                if !piece.contains('=') {
                    out.push('=');
                }
            }
            out
        })
    });
}

/// What it folds: a `+` becomes `%20`.
///
/// Why: in a query both are a space (WHATWG URL 5.1); a space itself has been encoded by the parser.
///
/// Example: `?q=red+shoe` → `?q=red%20shoe`.
///
/// What it must not fold: `%2B`, which is a plus sign; a `+` in the path.
///
/// Since: url/1, from strength `page`.
pub(super) fn spaces(parts: &mut Parts<'_>) {
    change(parts, |query| query.contains('+').then(|| query.replace('+', "%20")));
}

/// What it folds: the order of parameters of different names, by the bytes of the names as they are now written.
///
/// Why: most servers read parameters by name, and crawlers write them in any order.
///
/// Example: `?b=2&a=1` → `?a=1&b=2`.
///
/// What it must not fold: the order of values of one name: `?a=2&a=1` is not `?a=1&a=2`.
///
/// Since: url/1, from strength `page`.
pub(super) fn order(parts: &mut Parts<'_>) {
    change(parts, |query| {
        (!query.split('&').map(name).is_sorted()).then(|| {
            let mut pieces: Vec<&str> = query.split('&').collect();
            pieces.sort_by_key(|piece| name(piece));
            pieces.join("&")
        })
    });
}

/// What it folds: a `?` with nothing behind it.
///
/// Why: both give the same empty list of parameters.
///
/// Example: `https://e.example/p?` → `https://e.example/p`.
///
/// What it must not fold: `?=`, a nameless parameter.
///
/// Since: url/1, from strength `page`.
pub(super) fn drop_empty(parts: &mut Parts<'_>) {
    if parts.query.as_ref().is_some_and(|query| query.is_empty()) {
        parts.query = None;
    }
}

/// The name of a piece, as written.
pub(super) fn name(piece: &str) -> &str {
    piece.split_once('=').map_or(piece, |(name, _)| name)
}

/// Takes out the pieces whose name, as written, is not wanted. What stays is left as it is.
pub(super) fn retain(parts: &mut Parts<'_>, wanted: impl Fn(&str) -> bool) {
    change(parts, |query| {
        let mut pieces = query.split('&');
        let first = pieces.position(|piece| !wanted(name(piece)))?;
        let kept = query.split('&').take(first).chain(pieces.filter(|piece| wanted(name(piece))));
        Some(kept.collect::<Vec<_>>().join("&"))
    });
}

fn push(piece: &str, out: &mut String) {
    if !out.is_empty() {
        out.push('&');
    }
    out.push_str(piece);
}

/// Puts what `change` makes of the query, if anything, in its place.
fn change(parts: &mut Parts<'_>, change: impl Fn(&str) -> Option<String>) {
    if let Some(query) = &mut parts.query
        && let Some(changed) = change(query)
    {
        *query = Cow::Owned(changed);
    }
}
