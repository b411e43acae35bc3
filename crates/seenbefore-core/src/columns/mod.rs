//! Lines of JSON to columns: what CSV and Parquet hold of rows that were kept (`docs/reference/outputs.md`).
//!
//! Two passes over the same lines: [`Columns::look`] learns which columns there are and what they hold, [`Columns::csv`] and
//! [`Columns::texts`] write them. A value is never changed; what has no type of its own stays JSON text.

mod kinds;
mod texts;

pub use kinds::Type;
pub use texts::Text;

use crate::boundary::{is_blank, line_end};
use crate::error::Refusal;
use crate::json::{Kind, Tape, Value, parse};
use kinds::Held;
use std::collections::HashMap;

/// A column: a member, or a member of one that is taken apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Way {
    /// Index into the names of members that are taken apart.
    outer: Option<usize>,
    name: String,
}

/// The columns of some rows.
#[derive(Debug, Default)]
pub struct Columns {
    /// Members whose own members become columns; they stand behind all others.
    apart: Vec<String>,
    ways: Vec<Way>,
    index: HashMap<Way, usize>,
    held: Vec<Held>,
    tape: Tape,
}

impl Columns {
    /// No columns yet. Each member of an object that is a member named in `apart` becomes a column of its own.
    #[must_use]
    pub fn new(apart: Vec<String>) -> Self {
        Self { apart, ..Self::default() }
    }

    /// Learns from lines which columns there are and what they hold.
    ///
    /// # Errors
    /// Where a line is no record.
    pub fn look(&mut self, lines: &[u8]) -> Result<(), Refusal> {
        let mut tape = std::mem::take(&mut self.tape);
        let looked = each_line(lines, &mut tape, |record| {
            let mut next = 0;
            for (outer, name, value) in self.members(record) {
                let at = self.find(outer, name, next).unwrap_or_else(|| self.add(outer, name));
                next = at + 1;
                if let Some(held) = self.held.get_mut(at) {
                    held.see(value);
                }
            }
        });
        self.tape = tape;
        looked
    }

    /// The columns in their order, as indices: by first occurrence, those of members that are taken apart last.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.ways.len()).collect();
        order.sort_by_key(|at| self.ways.get(*at).and_then(|way| way.outer).map_or(0, |outer| outer + 1));
        order
    }

    /// Name and type of each column, in their order.
    #[must_use]
    pub fn named(&self) -> Vec<(String, Type)> {
        let mut named: Vec<(String, Type)> = Vec::new();
        for at in self.order() {
            let (Some(way), Some(held)) = (self.ways.get(at), self.held.get(at)) else { continue };
            let outer = way.outer.and_then(|outer| self.apart.get(outer));
            let mut name = outer.map_or_else(|| way.name.clone(), |outer| format!("{outer}.{}", way.name));
            while named.iter().any(|(taken, _)| *taken == name) {
                name.push('_');
            }
            named.push((name, held.as_type()));
        }
        named
    }

    /// The members of a record that are columns, with the member that they were taken out of.
    fn members<'a>(&self, record: Value<'a>) -> Vec<(Option<usize>, Value<'a>, Value<'a>)> {
        let mut members = Vec::new();
        for (name, value) in record.members() {
            let apart = self.apart.iter().position(|apart| value.kind() == Kind::Object && name.is(apart));
            match apart {
                None => members.push((None, name, value)),
                Some(outer) => members.extend(value.members().map(|(name, value)| (Some(outer), name, value))),
            }
        }
        members
    }

    /// The values of a record, by column.
    fn values<'a>(&self, record: Value<'a>) -> Vec<Option<Value<'a>>> {
        let mut values = vec![None; self.ways.len()];
        let mut next = 0;
        for (outer, name, value) in self.members(record) {
            let Some(at) = self.find(outer, name, next) else { continue };
            next = at + 1;
            if let Some(slot) = values.get_mut(at) {
                *slot = Some(value);
            }
        }
        values
    }

    /// The column of a member. Rows are mostly alike: the one behind the last is looked at first.
    fn find(&self, outer: Option<usize>, name: Value<'_>, next: usize) -> Option<usize> {
        if self.ways.get(next).is_some_and(|way| way.outer == outer && name.is(&way.name)) {
            return Some(next);
        }
        self.index.get(&Way { outer, name: name.string().into_owned() }).copied()
    }

    fn add(&mut self, outer: Option<usize>, name: Value<'_>) -> usize {
        let way = Way { outer, name: name.string().into_owned() };
        self.index.insert(way.clone(), self.ways.len());
        self.ways.push(way);
        self.held.push(Held::default());
        self.ways.len() - 1
    }
}

fn each_line(lines: &[u8], tape: &mut Tape, mut then: impl FnMut(Value<'_>)) -> Result<(), Refusal> {
    let mut at = 0;
    while at < lines.len() {
        let (end, next) = line_end(lines, at);
        let line = lines.get(at..end).unwrap_or_default();
        if !is_blank(line) {
            let text = std::str::from_utf8(line)
                .map_err(|_| Refusal::line(crate::error::Code::InvalidUtf8, "a row that is not UTF-8"))?;
            parse(text, tape)?;
            if let Some(record) = tape.root(text) {
                then(record);
            }
        }
        at = next;
    }
    Ok(())
}
