//! Reading fixed forms from the left.

/// What is left of a text.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub const fn new(text: &'a [u8]) -> Self {
        Self { rest: text }
    }

    pub const fn is_done(&self) -> bool {
        self.rest.is_empty()
    }

    pub fn at_digit(&self) -> bool {
        self.rest.first().is_some_and(u8::is_ascii_digit)
    }

    /// Takes `byte` if it comes next.
    pub fn eat(&mut self, byte: u8) -> bool {
        match self.rest.split_first() {
            Some((first, rest)) if *first == byte => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    /// A number of exactly so many ASCII digits.
    pub fn number(&mut self, digits: usize) -> Option<i64> {
        let (number, rest) = self.rest.split_at_checked(digits)?;
        self.rest = rest;
        value(number)
    }

    /// A number of one to so many ASCII digits, no digit after it.
    pub fn number_up_to(&mut self, digits: usize) -> Option<i64> {
        let length = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if (1..=digits).contains(&length) { self.number(length) } else { None }
    }

    /// At least one ASCII digit; the first `kept` of them as a number, as if zeros followed.
    pub fn fraction(&mut self, kept: u32) -> Option<i64> {
        let length = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.rest.split_at_checked(length).filter(|_| length > 0)?;
        self.rest = rest;
        (0..kept)
            .zip(digits.iter().copied().chain(std::iter::repeat(b'0')))
            .try_fold(0, |number, (_, digit)| Some(number * 10 + i64::from(digit.checked_sub(b'0')?)))
    }

    /// The place in `names` (lower case) of the name that comes next, whatever its case.
    pub fn name(&mut self, names: &[&[u8]]) -> Option<i64> {
        for (place, name) in (0..).zip(names) {
            if let Some((start, rest)) = self.rest.split_at_checked(name.len())
                && start.eq_ignore_ascii_case(name)
            {
                self.rest = rest;
                return Some(place);
            }
        }
        None
    }

    /// Spaces and tabs, if any.
    pub fn blanks(&mut self) {
        while self.eat(b' ') || self.eat(b'\t') {}
    }

    /// Spaces and tabs, at least one.
    pub fn blanks_needed(&mut self) -> Option<()> {
        let before = self.rest.len();
        self.blanks();
        (self.rest.len() < before).then_some(())
    }
}

/// The value of ASCII digits; none where something else stands among them.
fn value(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0, |number, digit| digit.is_ascii_digit().then(|| number * 10 + i64::from(digit - b'0')))
}
