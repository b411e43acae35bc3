//! One table of a ruleset being read: what is asked for, what differs from its default, what is wrong with it.

use toml::{Table, Value};

/// A mistake in a ruleset: where (`fields.sku.kind`) and what, with what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Dotted path of the setting; empty for the text as a whole.
    pub path: String,
    /// What is wrong and what would be right.
    pub message: String,
}

/// What the tables within a table take over from it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scope {
    /// True under `identity = "*"`: undeclared strings are `name` instead of `text`.
    pub keep_case: bool,
    /// To how many decimal places a program's binary floats are rounded; none refuses them.
    pub places: Option<usize>,
}

/// A table being read. Every setting is asked for by name with its default; [`Settings::finish`] refuses what was not asked for.
#[derive(Debug)]
pub struct Settings<'a> {
    table: &'a Table,
    path: String,
    mistakes: &'a mut Vec<Mistake>,
    scope: Scope,
    asked: Vec<&'static str>,
    /// Settings in force, defaults among them.
    in_force: Table,
    /// Settings that differ from their default.
    stated: Table,
}

/// What a table was read as.
#[derive(Clone, Debug, Default)]
pub struct Read {
    /// Every setting in force, defaults written out.
    pub in_force: Table,
    /// Only what differs from its default: what goes into a fingerprint, so that a new setting changes no old one.
    pub stated: Table,
}

impl<'a> Settings<'a> {
    /// Starts reading `table`, which stands at `path`.
    pub fn new(table: &'a Table, path: &str, mistakes: &'a mut Vec<Mistake>) -> Self {
        Self {
            table,
            path: path.to_owned(),
            mistakes,
            scope: Scope::default(),
            asked: Vec::new(),
            in_force: Table::new(),
            stated: Table::new(),
        }
    }

    /// Notes a mistake at `setting` of this table.
    pub fn mistake(&mut self, setting: &str, message: impl Into<String>) {
        let path = join(&self.path, setting);
        self.mistakes.push(Mistake { path, message: message.into() });
    }

    /// A true-or-false setting.
    pub fn boolean(&mut self, name: &'static str, default: bool) -> bool {
        let value = match self.ask(name) {
            Some(Value::Boolean(value)) => *value,
            Some(other) => self.wrong(name, "true or false", other, default),
            None => default,
        };
        self.note(name, Value::Boolean(value), value != default);
        value
    }

    /// A text setting without a default.
    pub fn text(&mut self, name: &'static str) -> Option<String> {
        let value = match self.ask(name) {
            Some(Value::String(value)) if !value.is_empty() => Some(value.clone()),
            Some(Value::String(_)) => {
                self.mistake(name, "is empty");
                None
            }
            Some(other) => self.wrong(name, "a text", other, None),
            None => None,
        };
        if let Some(value) = &value {
            self.note(name, Value::String(value.clone()), true);
        }
        value
    }

    /// A setting that takes one of `choices`.
    pub fn choice(&mut self, name: &'static str, choices: &[&'static str], default: &'static str) -> &'static str {
        let value = match self.ask(name) {
            Some(Value::String(given)) => {
                let known = choices.iter().find(|choice| *choice == given);
                if known.is_none() {
                    let message = format!("\"{given}\" is none of {}{}", listed(choices), nearest(given, choices));
                    self.mistake(name, message);
                }
                known.unwrap_or(&default)
            }
            Some(other) => self.wrong(name, "a text", other, default),
            None => default,
        };
        self.note(name, Value::String(value.to_owned()), value != default);
        value
    }

    /// A list of different, non-empty texts; empty where it is not given.
    pub fn texts(&mut self, name: &'static str) -> Vec<String> {
        let Some(value) = self.ask(name) else { return Vec::new() };
        let Value::Array(items) = value else { return self.wrong(name, "a list of texts", value, Vec::new()) };
        let mut texts: Vec<String> = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let at = format!("{name}[{index}]");
            match item {
                Value::String(text) if text.is_empty() => self.mistake(&at, "is empty"),
                Value::String(text) if texts.contains(text) => self.mistake(&at, format!("\"{text}\" stands twice")),
                Value::String(text) => texts.push(text.clone()),
                other => self.wrong(&at, "a text", other, ()),
            }
        }
        texts
    }

    /// A setting as it stands, to be read by the caller.
    pub fn ask(&mut self, name: &'static str) -> Option<&'a Value> {
        if !self.asked.contains(&name) {
            self.asked.push(name);
        }
        self.table.get(name)
    }

    /// A table within this one; an empty one where it is not given.
    pub fn table(&mut self, name: &'static str) -> Option<&'a Table> {
        match self.ask(name) {
            Some(Value::Table(table)) => Some(table),
            Some(other) => self.wrong(name, "a table", other, None),
            None => None,
        }
    }

    /// Reads a table within this one with settings of its own.
    pub fn within<'b>(&'b mut self, name: &str, table: &'b Table) -> Settings<'b> {
        let scope = self.scope;
        Settings { scope, ..Settings::new(table, &join(&self.path, name), self.mistakes) }
    }

    /// What the tables around this one say.
    #[must_use]
    pub const fn scope(&self) -> Scope {
        self.scope
    }

    /// Says it to the tables within this one.
    pub const fn set_scope(&mut self, scope: Scope) {
        self.scope = scope;
    }

    /// Records what a setting was read as, and whether that differs from its default.
    pub fn note(&mut self, name: &str, value: Value, stated: bool) {
        if stated {
            self.stated.insert(name.to_owned(), value.clone());
        }
        self.in_force.insert(name.to_owned(), value);
    }

    /// Records what a table within this one was read as, and what of it differs from there being no such table.
    pub fn note_table(&mut self, name: &str, in_force: Table, stated: Option<Table>) {
        if let Some(stated) = stated {
            self.stated.insert(name.to_owned(), Value::Table(stated));
        }
        self.in_force.insert(name.to_owned(), Value::Table(in_force));
    }

    /// Notes that `name` is not `wanted`, and gives `otherwise` back.
    pub fn wrong<T>(&mut self, name: &str, wanted: &str, found: &Value, otherwise: T) -> T {
        self.mistake(name, format!("{wanted} is needed, not {}", found.type_str()));
        otherwise
    }

    /// Refuses every setting that nobody asked for, naming the nearest known one.
    #[must_use]
    pub fn finish(mut self) -> Read {
        let asked = std::mem::take(&mut self.asked);
        for name in self.table.keys().filter(|name| !asked.contains(&name.as_str())) {
            let message = format!("is not a setting here{}; known: {}", nearest(name, &asked), listed(&asked));
            self.mistake(name, message);
        }
        Read { in_force: self.in_force, stated: self.stated }
    }
}

fn join(path: &str, setting: &str) -> String {
    if path.is_empty() { setting.to_owned() } else { format!("{path}.{setting}") }
}

/// Choices as a sentence part.
pub fn listed(choices: &[&str]) -> String {
    choices.iter().map(|choice| format!("\"{choice}\"")).collect::<Vec<_>>().join(", ")
}

/// `; did you mean "…"?` for the choice that is at most two edits away.
#[must_use]
pub fn nearest(given: &str, choices: &[&str]) -> String {
    let best = choices.iter().map(|choice| (edits(given, choice), choice)).min();
    match best {
        Some((distance, choice)) if distance <= 2 => format!(" (did you mean \"{choice}\"?)"),
        _ => String::new(),
    }
}

/// Levenshtein distance in scalar values.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut corner = i;
        let mut left = i + 1;
        let mut next = vec![left];
        for (above, to) in row.iter().skip(1).zip(&b) {
            left = (corner + usize::from(from != *to)).min(above + 1).min(left + 1);
            corner = *above;
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}
