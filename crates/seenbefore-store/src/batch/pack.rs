//! Blocks as the store keeps them: compressed, each by itself.

use crate::Error;
use seenbefore_core::batch::Block;
use zstd::bulk::Compressor;

/// The fastest usual level: receipts are mostly digests, which no level makes smaller than half of their digits.
const LEVEL: i32 = 1;

/// What one thread packs with.
pub struct Packer {
    compressor: Result<Compressor<'static>, std::io::Error>,
    keep_rows: bool,
}

impl Packer {
    /// `keep_rows` says whether the store keeps the kept rows.
    #[must_use]
    pub fn new(keep_rows: bool) -> Self {
        Self { compressor: Compressor::new(LEVEL), keep_rows }
    }

    /// A block with what the store keeps of it.
    ///
    /// # Errors
    /// [`Error::Misuse`] where there is no memory for it.
    pub fn pack(&mut self, block: Block) -> Result<Packed, Error> {
        let keep_rows = self.keep_rows;
        let failed = |error: &std::io::Error| Error::Misuse(format!("a block can't be compressed: {error}"));
        let compressor = self.compressor.as_mut().map_err(|error| failed(error))?;
        let receipts = compressor.compress(&block.receipts).map_err(|error| failed(&error))?;
        let kept = keep_rows.then(|| compressor.compress(&block.kept)).transpose().map_err(|error| failed(&error))?;
        Ok(Packed { block, receipts, kept })
    }
}

/// A block, and its compressed parts.
#[derive(Debug, Default)]
pub struct Packed {
    /// As it was rendered.
    pub block: Block,
    /// Its receipts.
    pub receipts: Vec<u8>,
    /// Its kept rows, where the store keeps them.
    pub kept: Option<Vec<u8>>,
}
