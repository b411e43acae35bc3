//! A bucket: entries of 44 bytes, sorted by key. An entry is the key and the id in twelve digits, so that SQL can read it.

use crate::Error;
use seenbefore_core::keys::Digest;

const KEY: usize = 32;
const DIGITS: usize = 12;
/// Bytes of an entry.
pub const WIDTH: usize = KEY + DIGITS;
/// Entries of a bucket on average: with its usual spread it fits into one page of 8 KiB.
pub const PER_BUCKET: u64 = 160;

/// The bucket of a key among `buckets`, which is in the order of the keys.
pub fn bucket_of(key: &[u8], buckets: u64) -> u64 {
    let [a, b, c, d, ..] = *key else { return 0 };
    (u64::from(u32::from_be_bytes([a, b, c, d])) * buckets) >> 32
}

/// Appends an entry.
pub fn push(entries: &mut Vec<u8>, key: &Digest, id: i64) -> Result<(), Error> {
    let mut digits = [b'0'; DIGITS];
    let mut rest = u64::try_from(id).map_err(|_| Error::Contradiction(format!("an id is {id}")))?;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + u8::try_from(rest % 10).unwrap_or(0);
        rest /= 10;
    }
    if rest > 0 {
        return Err(Error::Contradiction(format!("an id of more than {DIGITS} digits: {id}")));
    }
    entries.extend_from_slice(key);
    entries.extend_from_slice(&digits);
    Ok(())
}

/// The entries of a bucket.
pub fn entries(bucket: &[u8]) -> Result<&[[u8; WIDTH]], Error> {
    let (entries, rest) = bucket.as_chunks();
    if rest.is_empty() { Ok(entries) } else { Err(Error::damaged("a bucket of keys is cut off")) }
}

/// The key of an entry.
pub fn key(entry: &[u8; WIDTH]) -> &[u8] {
    entry.get(..KEY).unwrap_or_default()
}

/// The id of an entry.
pub fn id(entry: &[u8; WIDTH]) -> Result<i64, Error> {
    entry.get(KEY..).unwrap_or_default().iter().try_fold(0, |id, digit| {
        let digit = digit.wrapping_sub(b'0');
        if digit < 10 { Ok(id * 10 + i64::from(digit)) } else { Err(Error::damaged("an id in a bucket is no number")) }
    })
}
