//! The SQLite file of a store, and a store in memory. The only SQLite library in the process is the one in here: two of them that open one file
//! would let go of each other's locks (<https://sqlite.org/howtocorrupt.html>, section 2.2.1).
//!
//! SQL that people read stays in Python and comes through [`Database`]. What is done for every record is done here, on the
//! memory of a batch.

mod batch;
mod database;
mod error;
mod memory;
mod reader;
mod segments;
mod value;

pub use batch::{Claimed, Content, Moved, Packed, Packer, Place, Rows, Written, read_later, unpack};
pub use database::Database;
pub use error::Error;
pub use memory::Memory;
pub use reader::{Cursor, Pending, Reader};
pub use segments::{Kind, Layout};
pub use value::{Parameters, Row, Value};
