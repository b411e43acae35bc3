//! seenbefore-core
pub mod normalise;
pub mod unicode;
pub mod urls;
pub mod times;
