//! Finding the members that a ruleset names.

use crate::json::Value;

/// The places of the finder that are not an identity field's; those follow in their order.
pub(super) const URL: usize = 0;
pub(super) const FETCHED_AT: usize = 1;
pub(super) const SOURCE: usize = 2;
pub(super) const PAYLOAD: usize = 3;
pub(super) const FIELDS: usize = 4;

/// Where the named members stood in the record before. Most records of an input have theirs in one order, so each member is
/// looked for there first; its name is compared all the same.
#[derive(Debug, Default)]
pub(super) struct Finder(Vec<usize>);

impl Finder {
    /// The member of that name. `which` is its own number: one of the constants here.
    pub fn find<'a>(&mut self, which: usize, record: Value<'a>, name: &str) -> Option<Value<'a>> {
        if let Some((found, value)) = self.0.get(which).and_then(|place| record.member(*place))
            && found.is(name)
        {
            return Some(value);
        }
        let (place, value) =
            (0..).zip(record.members()).find_map(|(place, (found, value))| found.is(name).then_some((place, value)))?;
        if self.0.len() <= which {
            self.0.resize(which + 1, 0);
        }
        if let Some(slot) = self.0.get_mut(which) {
            *slot = place;
        }
        Some(value)
    }
}
