//! Step `fragment`: the place within a page.

use super::parse::Parts;

/// What it folds: everything from `#`, unless it starts with `#!` or `#/`.
///
/// Why: a fragment is never sent to the server (RFC 3986 3.5), so it shows the same page. Application routes are the
/// exception: there the page's script shows something else for each.
///
/// Example: `https://e.example/p#top` → `https://e.example/p`.
///
/// What it must not fold: `https://e.example/#!/item/5`, `https://e.example/#/item/5`.
///
/// Since: url/1, from strength `page`.
pub(super) fn remove(parts: &mut Parts<'_>) {
    if parts.fragment.as_ref().is_some_and(|fragment| !fragment.starts_with(['!', '/'])) {
        parts.fragment = None;
    }
}
