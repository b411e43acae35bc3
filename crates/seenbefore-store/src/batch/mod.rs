//! What is done for every record of a batch: claiming its keys, and writing what was judged.

mod claim;
mod later;
mod pack;
mod record;

pub use claim::Claimed;
pub use later::read as read_later;
pub use pack::{Packed, Packer, unpack};
pub use record::{Content, Moved, Place, Rows, Written};
