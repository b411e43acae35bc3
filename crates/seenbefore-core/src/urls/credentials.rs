//! Step `credentials`: no user, no password.

use super::parse::Parts;

/// What it folds: `user:password@` before the host.
///
/// Why: they say who asks, not what is there, and must never reach a key, a receipt or a log (RFC 3986 3.2.1 and 7.5).
///
/// Example: `https://demo:secret@example.com/a` → `https://example.com/a`.
///
/// What it must not fold: an `@` in the path, as in `https://example.com/@name`.
///
/// Since: url/1, from strength `exact`.
pub(super) fn remove(parts: &mut Parts<'_>) {
    parts.credentials = false;
}
