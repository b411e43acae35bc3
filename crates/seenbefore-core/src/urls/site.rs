//! Steps `https`, `www`, `index-page` and `trailing-slash`: spellings that most sites, not all, answer alike.

use super::parse::Parts;
use std::borrow::Cow;

/// File names that servers give for a folder. Case counts.
pub(super) const INDEX_PAGES: [&str; 4] = ["index.html", "index.htm", "index.php", "default.aspx"];

/// What it folds: `http` becomes `https`.
///
/// Why: sites that have both show the same on both, and crawls meet both.
///
/// Example: `http://e.example/a` → `https://e.example/a`.
///
/// What it must not fold: ports: `http://e.example:8080/` becomes `https://e.example:8080/`.
///
/// Since: url/1, from strength `site`.
pub(super) fn https(parts: &mut Parts<'_>) {
    parts.https = true;
}

/// What it folds: leading labels `www`, as long as two labels remain.
///
/// Why: most sites answer with and without it alike.
///
/// Example: `https://www.e.example/` → `https://e.example/`.
///
/// What it must not fold: `https://www.com/`; `www2.`; a label `www` further in.
///
/// Since: url/1, from strength `site`.
pub(super) fn www(parts: &mut Parts<'_>) {
    let mut host: &str = &parts.host;
    while let Some(rest) = host.strip_prefix("www.") {
        if rest.split('.').filter(|label| !label.is_empty()).take(2).count() < 2 {
            break;
        }
        host = rest;
    }
    if host.len() < parts.host.len() {
        parts.host = Cow::Owned(host.to_owned());
    }
}

/// What it folds: `index.html`, `index.htm`, `index.php` and `default.aspx` at the end of the path, trailing slashes
/// aside.
///
/// Why: servers show that file for the folder.
///
/// Example: `https://e.example/shop/index.html` → `https://e.example/shop/`.
///
/// What it must not fold: `Index.html` (case counts); `/index.html/about`; `/my-index.html`.
///
/// Since: url/1, from strength `site`.
pub(super) fn index_page(parts: &mut Parts<'_>) {
    let mut path: &str = &parts.path;
    // As many as there are: one a round would make long paths of them slow.
    while let Some((folder, last)) = path.trim_end_matches('/').rsplit_once('/') {
        if !INDEX_PAGES.contains(&last) {
            break;
        }
        path = folder;
    }
    if path.len() < parts.path.len() {
        parts.path = Cow::Owned(format!("{path}/"));
    }
}

/// What it folds: slashes at the end of the path, but for the one that is the whole path.
///
/// Why: most sites send the one to the other.
///
/// Example: `https://e.example/d/` → `https://e.example/d`.
///
/// What it must not fold: slashes inside the path, doubled or not.
///
/// Since: url/1, from strength `site`.
pub(super) fn trailing_slash(parts: &mut Parts<'_>) {
    let path = parts.path.trim_end_matches('/');
    if path.is_empty() {
        if parts.path != "/" {
            parts.path = Cow::Borrowed("/");
        }
    } else if path.len() < parts.path.len() {
        parts.path = Cow::Owned(path.to_owned());
    }
}
