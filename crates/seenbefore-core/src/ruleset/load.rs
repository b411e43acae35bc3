//! A ruleset from TOML, every mistake with its path.

use super::fingerprint::{canonical, digest};
use super::sections::{actions, boundary, record, url};
use super::settings::{Mistake, Read, Scope, Settings, listed, nearest};
use super::{Field, Identity, Payload, Ruleset};
use crate::canonicalise::{compare_names, write_string};
use crate::keys::Digest;
use crate::kinds::{Auto, Declared, declared_in};
use toml::{Table, Value};

/// The only rule of making keys so far.
const KEYS: &str = "keys/1";

impl Ruleset {
    /// Reads a ruleset from TOML text.
    ///
    /// # Errors
    /// Every mistake in it, each with the path of the setting.
    pub fn from_toml(text: &str) -> Result<Self, Vec<Mistake>> {
        let table: Table = text.parse().map_err(|error: toml::de::Error| {
            let line = error
                .span()
                .and_then(|span| text.get(..span.start))
                .map_or(1, |before| before.matches('\n').count() + 1);
            vec![Mistake { path: String::new(), message: format!("not TOML: {}, line {line}", error.message()) }]
        })?;
        let mut mistakes = Vec::new();
        let ruleset = read(&table, &mut mistakes);
        if mistakes.is_empty() { Ok(ruleset) } else { Err(mistakes) }
    }
}

fn read(table: &Table, mistakes: &mut Vec<Mistake>) -> Ruleset {
    let mut top = Settings::new(table, "", mistakes);
    let name = name(&mut top);
    let version = version(&mut top);
    top.choice("keys", &[KEYS], KEYS);
    let (record, record_read) = record(&mut top);
    let volatile = sorted_texts(&mut top, "volatile");
    let require = sorted_texts(&mut top, "require");
    let payload = payload(&mut top);
    let (identity, fields_read) = identity(&mut top, &require);
    check_overlaps(&mut top, &identity, &volatile, &require);
    let (decode_entities, boundary_read) = boundary(&mut top, &identity, record.url.as_deref());
    let (url, url_read) = url(&mut top);
    let (actions, actions_read) = actions(&mut top);
    // There the names under [record] say which members are left out of what is hashed.
    let names_count = match identity {
        Identity::Everything { .. } => true,
        Identity::Payload => payload.is_none(),
        Identity::Fields(_) => false,
    };
    let mut top = top.finish();
    for (section, read) in [("fields", fields_read), ("url", url_read), ("boundary", boundary_read)] {
        insert(&mut top.stated, section, read.stated);
        insert(&mut top.in_force, section, read.in_force);
    }
    let mut identity_table = top.stated;
    identity_table.remove("name");
    identity_table.remove("version");
    identity_table.insert("keys".to_owned(), Value::String(KEYS.to_owned()));
    if names_count {
        let mut names = record_read.stated.clone();
        names.remove("assume_offset");
        insert(&mut identity_table, "record", names);
    }
    let mut rest = Table::new();
    insert(&mut rest, "record", record_read.stated);
    insert(&mut rest, "actions", actions_read.stated);
    insert(&mut top.in_force, "record", record_read.in_force);
    insert(&mut top.in_force, "actions", actions_read.in_force);
    Ruleset {
        label: format!("{name}/{version}"),
        name,
        version,
        identity,
        require,
        volatile,
        decode_entities,
        payload,
        record,
        url,
        actions,
        fingerprint: digest(&identity_table),
        configuration: digest(&rest),
        identity_json: canonical(&identity_table),
        settings_json: canonical(&top.in_force),
    }
}

/// Adds a section, unless there is nothing in it.
pub(super) fn insert(table: &mut Table, section: &str, content: Table) {
    if !content.is_empty() {
        table.insert(section.to_owned(), Value::Table(content));
    }
}

fn name(top: &mut Settings<'_>) -> String {
    let name = top.text("name");
    match &name {
        None => top.mistake("name", "a ruleset needs a name such as \"products\""),
        Some(name) => {
            let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
            let starts = name.bytes().next().is_some_and(plain);
            if !starts || !name.bytes().all(|byte| plain(byte) || byte == b'_' || byte == b'-') {
                top.mistake(
                    "name",
                    "takes small letters a-z, digits, \"_\" and \"-\", and starts with a letter or digit",
                );
            }
        }
    }
    name.unwrap_or_default()
}

fn version(top: &mut Settings<'_>) -> u64 {
    let version = match top.ask("version") {
        Some(Value::Integer(number)) => u64::try_from(*number).unwrap_or(0),
        Some(other) => top.wrong("version", "an integer", other, 1),
        None => 0,
    };
    if version == 0 {
        top.mistake("version", "a ruleset needs a version, an integer from 1");
    }
    top.note("version", Value::Integer(i64::try_from(version).unwrap_or(i64::MAX)), true);
    version
}

fn sorted_texts(top: &mut Settings<'_>, name: &'static str) -> Vec<String> {
    let mut texts = top.texts(name);
    texts.sort_unstable();
    note_texts(top, name, &texts);
    texts
}

/// Notes a list whose order does not matter in sorted order, so that the order in the file changes no fingerprint.
fn note_texts(top: &mut Settings<'_>, name: &str, texts: &[String]) {
    let mut sorted: Vec<&String> = texts.iter().collect();
    sorted.sort_unstable_by(|a, b| compare_names(a, b));
    let values = sorted.into_iter().map(|text| Value::String(text.clone())).collect();
    top.note(name, Value::Array(values), !texts.is_empty());
}

fn payload(top: &mut Settings<'_>) -> Option<Payload> {
    let field = top.text("payload");
    let encoding = top.choice("payload_encoding", &["utf-8", "base64"], "utf-8");
    if field.is_none() && encoding != "utf-8" {
        top.mistake("payload_encoding", "needs `payload`, the field that it describes");
    }
    field.map(|field| Payload { field, base64: encoding == "base64" })
}

fn identity(top: &mut Settings<'_>, require: &[String]) -> (Identity, Read) {
    let everything = matches!(top.ask("identity"), Some(Value::String(text)) if text == "*");
    let mut names = match top.ask("identity") {
        _ if everything => Vec::new(),
        Some(other @ Value::String(_)) => top.wrong("identity", "a list of field names, or \"*\",", other, Vec::new()),
        _ => top.texts("identity"),
    };
    names.sort_unstable_by(|a, b| compare_names(a, b));
    if everything {
        top.note("identity", Value::String("*".to_owned()), true);
    } else {
        note_texts(top, "identity", &names);
    }
    top.set_scope(Scope { keep_case: everything, ..Scope::default() });
    let (declared, read) = declared_in(top, "fields");
    let field = |declared: Declared| Field::new(&declared.name, declared.kind_name, declared.kind, require);
    let mut fields: Vec<Field> = declared.into_iter().map(field).collect();
    if everything {
        fields.sort_unstable_by(|a, b| compare_names(&a.name, &b.name));
        return (Identity::Everything { declared: fields, other: Auto::keeping_case() }, read);
    }
    if names.is_empty() {
        return (Identity::Payload, read);
    }
    let mut ordered = Vec::with_capacity(names.len());
    for name in names {
        ordered.push(match fields.iter().position(|field| field.name == name) {
            Some(at) => fields.swap_remove(at),
            None => Field::new(&name, "auto", Box::new(Auto::folding()), require),
        });
    }
    (Identity::Fields(ordered), read)
}

impl Field {
    fn new(name: &str, kind_name: &'static str, kind: Box<dyn crate::kinds::FieldKind>, require: &[String]) -> Self {
        let mut prefix = Vec::new();
        write_string(name, &mut prefix);
        prefix.push(b':');
        Self {
            name: name.to_owned(),
            kind,
            kind_name,
            required: require.iter().any(|required| required == name),
            prefix,
        }
    }
}

fn check_overlaps(top: &mut Settings<'_>, identity: &Identity, volatile: &[String], require: &[String]) {
    let Identity::Fields(fields) = identity else {
        if matches!(identity, Identity::Payload) && !require.is_empty() {
            top.mistake("require", "needs `identity`: without it there is no field to require");
        }
        return;
    };
    let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
    for name in volatile.iter().filter(|name| names.contains(&name.as_str())) {
        top.mistake("volatile", format!("\"{name}\" is an identity field, so it cannot be volatile"));
    }
    for name in require.iter().filter(|name| !names.contains(&name.as_str())) {
        top.mistake(
            "require",
            format!("\"{name}\" is not an identity field{}; they are {}", nearest(name, &names), listed(&names)),
        );
    }
}

/// Text form of a digest.
impl Ruleset {
    /// `sha256:<hex>` of what can change a key.
    #[must_use]
    pub fn fingerprint_text(&self) -> String {
        labelled(&self.fingerprint)
    }

    /// `sha256:<hex>` of everything else.
    #[must_use]
    pub fn configuration_text(&self) -> String {
        labelled(&self.configuration)
    }
}

fn labelled(digest: &Digest) -> String {
    format!("sha256:{}", crate::keys::hex(digest))
}
