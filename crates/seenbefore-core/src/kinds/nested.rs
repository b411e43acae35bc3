//! Lists and objects as canonical JSON, whatever kinds stand in them.

use super::{Context, Presence};
use crate::canonicalise::{sorted_members, write_string};
use crate::error::Refusal;
use crate::json::Value;

/// Writes a list in its order, items that `item` finds absent as null. A list of nothing but those is absent itself.
pub(super) fn write_list(
    list: Value<'_>,
    context: &mut Context<'_>,
    out: &mut Vec<u8>,
    item: impl Fn(Value<'_>, &mut Context<'_>, &mut Vec<u8>) -> Result<Presence, Refusal>,
) -> Result<Presence, Refusal> {
    let mut presence = Presence::Absent;
    out.push(b'[');
    for (index, element) in list.elements().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        let start = out.len();
        if item(element, context, out)? == Presence::Present {
            presence = Presence::Present;
        } else {
            out.truncate(start);
            out.extend_from_slice(b"null");
        }
    }
    out.push(b']');
    Ok(presence)
}

/// Writes an object in canonical order of its names, members that `member` finds absent left out. Without any it is absent itself.
pub(super) fn write_object(
    object: Value<'_>,
    context: &mut Context<'_>,
    out: &mut Vec<u8>,
    member: impl Fn(&str, Value<'_>, &mut Context<'_>, &mut Vec<u8>) -> Result<Presence, Refusal>,
) -> Result<Presence, Refusal> {
    let mut presence = Presence::Absent;
    out.push(b'{');
    for (name, value) in sorted_members(object) {
        let start = out.len();
        if presence == Presence::Present {
            out.push(b',');
        }
        write_string(&name, out);
        out.push(b':');
        if member(&name, value, context, out)? == Presence::Present {
            presence = Presence::Present;
        } else {
            out.truncate(start);
        }
    }
    out.push(b'}');
    Ok(presence)
}
