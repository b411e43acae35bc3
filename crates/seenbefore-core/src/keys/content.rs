//! The canonical form of the identity fields.

use super::find::{FIELDS, Finder};
use crate::canonicalise::{sorted_members, write_string};
use crate::entities::{Place, decode_value};
use crate::error::{Problems, Refusal};
use crate::json::Value;
use crate::kinds::{self, Context, FieldKind, Presence, Work};
use crate::ruleset::{Field, Identity, Ruleset};
use crate::urls::redact;

/// What somebody who wants an explanation is told of.
#[derive(Clone, Copy, Debug)]
pub enum Told<'a> {
    /// The next field: name, kind, and its value as JSON text, where the record has one.
    Field(&'a str, &'static str, Option<&'a str>),
    /// A step changed the field's text: step, before, after.
    Step(&'static str, &'a str, &'a str),
    /// The field's canonical form as JSON, or none where it is absent.
    Form(Option<&'a str>),
}

/// Writes the object of present identity fields to `out`. False where the record has no identity: nothing present, or a required field absent.
pub(super) fn write(
    rules: &Ruleset,
    record: Value<'_>,
    (work, finder, floats): (&mut Work, &mut Finder, &[String]),
    problems: &mut Problems,
    mut told: Option<&mut dyn FnMut(Told<'_>)>,
    out: &mut Vec<u8>,
) -> Result<bool, Refusal> {
    out.clear();
    out.push(b'{');
    let mut lacks_required = false;
    let mut one = |name: &str,
                   kind: &dyn FieldKind,
                   kind_name,
                   value: Option<Value<'_>>,
                   required: bool,
                   prefix: &mut dyn FnMut(&mut Vec<u8>)| {
        if let Some(told) = told.as_mut() {
            // A link's user and password stay out of every explanation.
            let shown =
                value.map(|value| if kind_name == "url" { redact(value.source()) } else { value.source().into() });
            told(Told::Field(name, kind_name, shown.as_deref()));
        }
        let start = out.len();
        if start > 1 {
            out.push(b',');
        }
        prefix(out);
        let value_start = out.len();
        let decoded = match value {
            Some(value) if rules.decodes(name) => {
                decode_value(value, if kind_name == "url" { Place::Attribute } else { Place::Text })?
            }
            _ => None,
        };
        if let (Some(told), Some(value), Some((text, _))) = (told.as_mut(), value, &decoded) {
            told(Told::Step("entities", value.source(), text));
        }
        let value = match &decoded {
            Some((text, tape)) => tape.root(text),
            None => value,
        };
        let presence = match value {
            None => Presence::Absent,
            Some(value) => {
                let mut step = told
                    .as_mut()
                    .map(|told| |step: &'static str, before: &str, after: &str| told(Told::Step(step, before, after)));
                let recorder = step.as_mut().map(|step| step as &mut kinds::Recorder<'_>);
                work.as_floats = floats.iter().any(|field| field == name);
                let mut context = Context { work, problems, record, urls: &rules.url, recorder };
                kinds::write(kind, value, &mut context, out).map_err(|refusal| refusal.at(name))?
            }
        };
        if let Some(told) = told.as_mut() {
            let form = (presence == Presence::Present)
                .then(|| String::from_utf8_lossy(out.get(value_start..).unwrap_or_default()));
            told(Told::Form(form.as_deref()));
        }
        if presence == Presence::Absent {
            out.truncate(start);
            lacks_required |= required;
        }
        Ok::<(), Refusal>(())
    };
    match &rules.identity {
        Identity::Payload => return Ok(false),
        Identity::Fields(fields) => {
            for (which, field) in (FIELDS..).zip(fields) {
                let value = finder.find(which, record, &field.name);
                one(&field.name, &*field.kind, field.kind_name, value, field.required, &mut |out| {
                    out.extend_from_slice(&field.prefix);
                })?;
            }
        }
        Identity::Everything { declared, other } => {
            for (name, value) in sorted_members(record) {
                if rules.leaves_out(&name) {
                    continue;
                }
                let field = declared.iter().find(|field| field.name == name);
                let (kind, kind_name): (&dyn FieldKind, _) =
                    field.map_or((other, "auto"), |Field { kind, kind_name, .. }| (&**kind, kind_name));
                let required = rules.require.iter().any(|required| *required == name);
                one(&name, kind, kind_name, Some(value), required, &mut |out| {
                    write_string(&name, out);
                    out.push(b':');
                })?;
            }
            lacks_required |= rules.require.iter().any(|required| !record.members().any(|(name, _)| name.is(required)));
        }
    }
    let present = out.len() > 1;
    out.push(b'}');
    Ok(present && !lacks_required)
}
