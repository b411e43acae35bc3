//! JSON read strictly into a flat tape: no tree, no allocation per value, every number exact.
//!
//! A [`Tape`] is a list of nodes in reading order, each a span of the text. It is reused from record to record.

mod build;
mod floats;
mod parse;
mod repeated;
mod text;

pub use build::Builder;
pub use parse::{MAX_DEPTH, parse, parse_value};
pub use text::{plain_until, unescape};

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;

/// What a node is. The order of a member is: a `String` node for its name, then the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true`
    True,
    /// `false`
    False,
    /// A number, its spelling kept.
    Number,
    /// A binary floating-point value of a program, spelled as its shortest round-trip decimal. Never read from JSON text.
    Float,
    /// A string without the quotes around it.
    String,
    /// `[…]`
    Array,
    /// `{…}`
    Object,
}

/// One value: its kind and its span in the text; for strings without the quotes.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    kind: Kind,
    escaped: bool,
    start: u32,
    end: u32,
    /// Index of the node after this value and all in it.
    next: u32,
}

/// The nodes of one record, in reading order; node 0 is the record itself.
#[derive(Debug, Default)]
pub struct Tape {
    nodes: Vec<Node>,
    open: Vec<u32>,
    names: Vec<u32>,
    /// Where the record's own members stand, in reading order.
    members: Vec<u32>,
    /// The names of the record read last.
    known: repeated::Names,
    /// How many objects stand in the record, itself included.
    objects: u32,
    surrogate: bool,
}

impl Tape {
    /// An empty tape, to be filled by [`parse`] or a [`Builder`].
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The record, where something was read. `text` must be the text that was read.
    #[must_use]
    pub fn root<'a>(&'a self, text: &'a str) -> Option<Value<'a>> {
        self.nodes.first().map(|_| Value { tape: self, text, at: 0 })
    }

    fn clear(&mut self) {
        self.nodes.clear();
        self.open.clear();
        self.members.clear();
        self.objects = 0;
        self.surrogate = false;
    }

    /// Appends a node and gives its place.
    fn add(&mut self, kind: Kind, start: usize, end: usize, escaped: bool) -> u32 {
        let (start, end) = (parse::length(start), parse::length(end));
        let index = parse::length(self.nodes.len());
        self.objects += u32::from(kind == Kind::Object);
        self.nodes.push(Node { kind, escaped, start, end, next: index + 1 });
        index
    }

    fn node(&self, at: u32) -> Node {
        const NONE: Node = Node { kind: Kind::Null, escaped: false, start: 0, end: 0, next: u32::MAX };
        self.nodes.get(at as usize).copied().unwrap_or(NONE)
    }
}

/// A value on a tape.
#[derive(Clone, Copy, Debug)]
pub struct Value<'a> {
    tape: &'a Tape,
    text: &'a str,
    at: u32,
}

impl<'a> Value<'a> {
    /// What the value is.
    #[must_use]
    pub fn kind(self) -> Kind {
        self.tape.node(self.at).kind
    }

    /// The spelling: a number's digits, a string's inside with its escapes, else the whole text of the value.
    #[must_use]
    pub fn raw(self) -> &'a str {
        let node = self.tape.node(self.at);
        self.text.get(node.start as usize..node.end as usize).unwrap_or_default()
    }

    /// Where the value's JSON text stands, a string's quotes included.
    #[must_use]
    pub fn span(self) -> Range<usize> {
        let node = self.tape.node(self.at);
        let quote = u32::from(node.kind == Kind::String);
        node.start.saturating_sub(quote) as usize..(node.end + quote) as usize
    }

    /// The value's JSON text as it stands, a string's quotes included.
    #[must_use]
    pub fn source(self) -> &'a str {
        self.text.get(self.span()).unwrap_or_default()
    }

    /// A string's value, escapes read; borrowed where there are none.
    #[must_use]
    pub fn string(self) -> Cow<'a, str> {
        if self.tape.node(self.at).escaped { Cow::Owned(unescape(self.raw())) } else { Cow::Borrowed(self.raw()) }
    }

    /// The elements of an array; nothing for other kinds.
    pub fn elements(self) -> impl Iterator<Item = Value<'a>> {
        let (tape, text) = (self.tape, self.text);
        let (first, end) = self.inside(Kind::Array);
        std::iter::successors(Some(first), move |at| Some(tape.node(*at).next))
            .take_while(move |at| *at < end)
            .map(move |at| Value { tape, text, at })
    }

    /// The members of an object as (name, value) in reading order; nothing for other kinds.
    pub fn members(self) -> impl Iterator<Item = (Value<'a>, Value<'a>)> {
        let (tape, text) = (self.tape, self.text);
        let (first, end) = self.inside(Kind::Object);
        std::iter::successors(Some(first), move |at| Some(tape.node(at + 1).next))
            .take_while(move |at| *at < end)
            .map(move |at| (Value { tape, text, at }, Value { tape, text, at: at + 1 }))
    }

    /// False where no member of the record has a name that starts with this ASCII character.
    #[must_use]
    pub fn may_have(self, first: u8) -> bool {
        self.at != 0 || self.tape.known.may_start_with(first)
    }

    /// The record's own member at that place in reading order, as (name, value).
    #[must_use]
    pub fn member(self, place: usize) -> Option<(Value<'a>, Value<'a>)> {
        let at = *self.tape.members.get(place).filter(|_| self.at == 0)?;
        Some((Value { at, ..self }, Value { at: at + 1, ..self }))
    }

    /// The places of the record's own members in the order of their names, for [`Value::member`]; none for other values.
    /// Sorted once for all records in a row that have the same names, so `compare` has to be the same always.
    #[must_use]
    pub fn order(self, compare: fn(&str, &str) -> Ordering) -> Option<&'a [usize]> {
        let sorted = || {
            let mut names: Vec<_> = self.members().map(|(name, _)| name.string()).enumerate().collect();
            names.sort_unstable_by(|a, b| compare(&a.1, &b.1));
            names.into_iter().map(|(place, _)| place).collect()
        };
        let record = self.at == 0 && self.kind() == Kind::Object;
        record.then(|| self.tape.known.order.get_or_init(sorted).as_slice())
    }

    /// True where this string equals `name`, without allocating unless it holds escapes.
    #[must_use]
    pub fn is(self, name: &str) -> bool {
        let node = self.tape.node(self.at);
        if node.escaped {
            return self.string() == name;
        }
        self.text.as_bytes().get(node.start as usize..node.end as usize) == Some(name.as_bytes())
    }

    /// A string that is written without escapes, and so holds neither `"` nor `\\`; none for others and other kinds.
    #[must_use]
    pub fn unescaped(self) -> Option<&'a str> {
        let node = self.tape.node(self.at);
        (node.kind == Kind::String && !node.escaped).then(|| self.raw())
    }

    fn inside(self, kind: Kind) -> (u32, u32) {
        let node = self.tape.node(self.at);
        if node.kind == kind { (self.at + 1, node.next) } else { (0, 0) }
    }
}
