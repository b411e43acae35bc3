//! Blocks as the store keeps them, each by itself: digests as bytes, the rest compressed.
//!
//! Receipts are mostly digests in hexadecimal, which no compressor makes smaller than their bytes, and over which it spends most
//! of its time. So each `sha256:` with its 64 digits loses the digits, and the 32 bytes go in front of what is compressed.

use crate::Error;
use memchr::{memchr, memchr_iter, memmem};
use seenbefore_core::batch::Block;
use zstd::bulk::Compressor;

/// The fastest usual level: what is left is mostly names of members and URLs.
const LEVEL: i32 = 1;
/// What a digest follows.
const BEFORE: &[u8] = b"sha256:";
const DIGITS: usize = 64;
/// Stands for the digits. It is in no JSON text, so in no receipt and no row.
const MARK: u8 = 1;
/// The first byte of a block with digests; then their number in four bytes, the least significant first, and the digests.
/// A block without any begins with zstd's magic number (RFC 8878 3.1.1).
const WITH_DIGESTS: u8 = 1;
const HEADER: usize = 5;
const DIGEST: usize = 32;

/// What one thread packs with.
pub struct Packer {
    compressor: Result<Compressor<'static>, std::io::Error>,
    keep_rows: bool,
    lines: Vec<u8>,
    digests: Vec<u8>,
}

impl Packer {
    /// `keep_rows` says whether the store keeps the kept rows.
    #[must_use]
    pub fn new(keep_rows: bool) -> Self {
        Self { compressor: Compressor::new(LEVEL), keep_rows, lines: Vec::new(), digests: Vec::new() }
    }

    /// A block with what the store keeps of it.
    ///
    /// # Errors
    /// [`Error::Misuse`] where there is no memory for it.
    pub fn pack(&mut self, block: Block) -> Result<Packed, Error> {
        let receipts = self.packed(&block.receipts)?;
        let kept = if self.keep_rows { Some(self.packed(&block.kept)?) } else { None };
        Ok(Packed { block, receipts, kept })
    }

    fn packed(&mut self, text: &[u8]) -> Result<Vec<u8>, Error> {
        let failed = |error: &std::io::Error| Error::Misuse(format!("a block can't be compressed: {error}"));
        let compressor = self.compressor.as_mut().map_err(|error| failed(error))?;
        lift(text, &mut self.lines, &mut self.digests);
        if self.digests.is_empty() {
            return compressor.compress(text).map_err(|error| failed(&error));
        }
        let lines = compressor.compress(&self.lines).map_err(|error| failed(&error))?;
        let count = u32::try_from(self.digests.len() / DIGEST)
            .map_err(|_| Error::Misuse("a block of four thousand million digests".to_owned()))?;
        Ok([&[WITH_DIGESTS], count.to_le_bytes().as_slice(), &self.digests, &lines].concat())
    }
}

/// Takes the digests out of a text. None are taken where the text holds the mark already.
fn lift(text: &[u8], lines: &mut Vec<u8>, digests: &mut Vec<u8>) {
    lines.clear();
    digests.clear();
    if memchr(MARK, text).is_some() {
        return;
    }
    let mut from = 0;
    for at in memmem::find_iter(text, BEFORE) {
        let start = at + BEFORE.len();
        let digits = text.get(start..start + DIGITS).and_then(<[u8]>::first_chunk);
        let Some(digest) = digits.and_then(unhex) else { continue };
        lines.extend_from_slice(text.get(from..start).unwrap_or_default());
        lines.push(MARK);
        digests.extend_from_slice(&digest);
        from = start + DIGITS;
    }
    lines.extend_from_slice(text.get(from..).unwrap_or_default());
}

/// Lower-case hexadecimal digits as bytes.
fn unhex(digits: &[u8; DIGITS]) -> Option<[u8; DIGEST]> {
    let value = |digit: u8| match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        _ => 0xFF,
    };
    let mut bytes = [0; DIGEST];
    let mut wrong = 0;
    for (byte, pair) in bytes.iter_mut().zip(digits.as_chunks::<2>().0) {
        let [high, low] = pair.map(value);
        wrong |= high | low;
        *byte = high << 4 | low & 0xF;
    }
    (wrong < 0x10).then_some(bytes)
}

/// The text of a packed block.
///
/// # Errors
/// [`Error::Sqlite`] as of a damaged store, where it is none.
pub fn unpack(packed: &[u8]) -> Result<Vec<u8>, Error> {
    let damaged = || Error::damaged("a block is cut off");
    let plain = |lines: &[u8]| {
        zstd::stream::decode_all(lines).map_err(|error| Error::damaged(format!("a block can't be unpacked: {error}")))
    };
    if packed.first() != Some(&WITH_DIGESTS) {
        return plain(packed);
    }
    let count = packed.get(1..HEADER).and_then(<[u8]>::first_chunk).ok_or_else(damaged)?;
    let end = HEADER + u32::from_le_bytes(*count) as usize * DIGEST;
    let (digests, rest) = packed.get(HEADER..end).zip(packed.get(end..)).ok_or_else(damaged)?;
    let (digests, lines) = (digests.as_chunks::<DIGEST>().0, plain(rest)?);
    let mut text = Vec::with_capacity(lines.len() + digests.len() * DIGITS);
    let (mut from, mut left) = (0, digests.iter());
    for at in memchr_iter(MARK, &lines) {
        text.extend_from_slice(lines.get(from..at).unwrap_or_default());
        text.extend_from_slice(seenbefore_core::keys::hex(left.next().ok_or_else(damaged)?).as_bytes());
        from = at + 1;
    }
    text.extend_from_slice(lines.get(from..).unwrap_or_default());
    if left.next().is_some() { Err(damaged()) } else { Ok(text) }
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

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test stops where it finds something wrong
mod tests {
    use super::{Packer, unpack};
    use proptest::prelude::*;

    fn packed(text: &[u8]) -> Vec<u8> {
        Packer::new(true).packed(text).unwrap()
    }

    proptest! {
        #[test]
        fn any_text_comes_back(parts in prop::collection::vec(
            prop_oneof![
                "[0-9a-f]{63,66}".prop_map(|digits| format!("sha256:{digits}").into_bytes()),
                "(sha256:){0,2}[0-9A-Fg]{0,70}".prop_map(String::into_bytes),
                prop::collection::vec(any::<u8>(), 0..20),
                prop::collection::vec(2_u8.., 0..20),
            ],
            0..12,
        )) {
            let text = parts.concat();
            prop_assert_eq!(unpack(&packed(&text)).unwrap(), text);
        }

        #[test]
        fn no_bytes_are_too_strange(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = unpack(&bytes);
            let _ = unpack(&[&[1, 1, 0, 0, 0], bytes.as_slice()].concat());
        }
    }

    #[test]
    fn a_block_that_is_not_whole_is_named() {
        let text = format!("{{\"payload_digest\":\"sha256:{}\"}}\n", "0123456789abcdef".repeat(4));
        let whole = packed(text.as_bytes());
        assert_eq!(whole[..5], [1, 1, 0, 0, 0]);
        assert!(whole.len() < text.len());
        for end in [0, 3, 5, 30, 37, whole.len() - 1] {
            assert!(unpack(&whole[..end]).is_err(), "{end}");
        }
        let mut more = whole.clone();
        more[1] = 0;
        assert!(unpack(&more).is_err());
        assert_eq!(unpack(&packed(b"no digest")).unwrap(), b"no digest");
    }
}
