//! What the tests of the kinds share: a value's form, problems, steps and a field's mistakes as texts.
#![allow(clippy::unwrap_used, clippy::panic)] // a test stops where it finds something wrong

use super::{Context, Presence, Work, write};
use crate::error::Problems;
use crate::json::{Builder, Kind, Tape, Value, parse};
use crate::ruleset::{Identity, Ruleset};

fn ruleset(settings: &str) -> Result<Ruleset, Vec<crate::ruleset::Mistake>> {
    Ruleset::from_toml(&format!("name = \"t\"\nversion = 1\nidentity = [\"v\"]\n[fields.v]\n{settings}\n"))
}

struct Outcome {
    form: String,
    problems: Vec<&'static str>,
    steps: Vec<String>,
}

fn outcome(record: Value<'_>, value: Value<'_>, kind: &str, settings: &str, told: bool) -> Outcome {
    let rules = ruleset(&format!("kind = \"{kind}\"\n{settings}")).unwrap();
    let Identity::Fields(fields) = &rules.identity else { panic!("one field") };
    let (mut problems, mut steps, mut out) = (Problems::default(), Vec::new(), Vec::new());
    let mut recorder =
        |step: &'static str, before: &str, after: &str| steps.push(format!("{step}: {before} > {after}"));
    let recorder = told.then_some(&mut recorder as &mut super::Recorder<'_>);
    let mut context =
        Context { work: &mut Work::default(), problems: &mut problems, record, urls: &rules.url, recorder };
    let form = match write(&*fields[0].kind, value, &mut context, &mut out) {
        Ok(Presence::Present) => String::from_utf8(out).unwrap(),
        Ok(Presence::Absent) => "absent".to_owned(),
        Err(refusal) => refusal.code.code().to_owned(),
    };
    Outcome { form, problems: problems.iter().map(crate::error::Problem::code).collect(), steps }
}

fn in_record(record: &str, kind: &str, settings: &str) -> Outcome {
    let mut tape = Tape::new();
    parse(record, &mut tape).unwrap();
    let root = tape.root(record).unwrap();
    let value = root.members().find(|(name, _)| name.is("v")).unwrap().1;
    let told = outcome(root, value, kind, settings, true);
    let untold = outcome(root, value, kind, settings, false);
    assert_eq!(
        (told.form.as_str(), &told.problems),
        (untold.form.as_str(), &untold.problems),
        "being told of steps changes nothing"
    );
    told
}

fn of(value: &str, kind: &str, settings: &str) -> Outcome {
    in_record(&format!("{{\"v\":{value}}}"), kind, settings)
}

/// A text as a JSON string.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The canonical form of a JSON value, `absent`, or the code it is refused with.
pub fn form(kind: &str, settings: &str, value: &str) -> String {
    of(value, kind, settings).form
}

/// As [`form`], of member `v` of a record.
pub fn form_in(record: &str, kind: &str, settings: &str) -> String {
    in_record(record, kind, settings).form
}

/// As [`form`], of a program's binary float.
pub fn form_of_float(kind: &str, settings: &str, spelling: &str) -> String {
    form_built(kind, settings, |builder| builder.token(Kind::Float, spelling))
}

/// As [`form`], of a value that `build` makes as a program would.
pub fn form_built(kind: &str, settings: &str, build: impl FnOnce(&mut Builder)) -> String {
    let mut builder = Builder::new();
    build(&mut builder);
    let (text, tape) = builder.finish().unwrap();
    let root = tape.root(&text).unwrap();
    outcome(root, root, kind, settings, true).form
}

/// What the receipt remarks about a JSON value.
pub fn problems(kind: &str, value: &str) -> Vec<&'static str> {
    of(value, kind, "").problems
}

/// The steps that changed a JSON value, as `step: before > after`.
pub fn steps(kind: &str, settings: &str, value: &str) -> Vec<String> {
    of(value, kind, settings).steps
}

/// The mistakes in a field's settings, as `path: message`.
pub fn mistakes(settings: &str) -> Vec<String> {
    let mistakes = ruleset(settings).err().unwrap_or_default();
    mistakes.into_iter().map(|mistake| format!("{}: {}", mistake.path, mistake.message)).collect()
}

/// What the fingerprint covers of a field's settings, as canonical JSON.
pub fn fingerprinted(settings: &str) -> String {
    let identity = ruleset(settings).unwrap().identity_json;
    identity.strip_prefix("{\"fields\":{\"v\":").unwrap().split_once("},\"identity\"").unwrap().0.to_owned()
}

/// The form of member `v` under `identity = "*"`.
pub fn form_under_star(settings: &str, record: &str) -> String {
    let toml = format!("name = \"t\"\nversion = 1\nidentity = \"*\"\n[fields.v]\n{settings}\n");
    let rules = Ruleset::from_toml(&toml).unwrap();
    let Identity::Everything { declared, .. } = &rules.identity else { panic!("everything") };
    let mut tape = Tape::new();
    parse(record, &mut tape).unwrap();
    let root = tape.root(record).unwrap();
    let value = root.members().find(|(name, _)| name.is("v")).unwrap().1;
    let (mut work, mut problems, mut out) = (Work::default(), Problems::default(), Vec::new());
    let mut context =
        Context { work: &mut work, problems: &mut problems, record: root, urls: &rules.url, recorder: None };
    write(&*declared[0].kind, value, &mut context, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn every_kind_is_in_the_order_of_the_specification() {
    let names: Vec<&str> = super::KINDS.iter().map(|(name, _)| *name).collect();
    let expected =
        "text name id code isbn issn gtin integer decimal money timestamp date boolean url list set object auto"
            .split(' ')
            .collect::<Vec<_>>();
    assert_eq!(names, expected);
}
