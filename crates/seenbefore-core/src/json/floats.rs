//! Numbers that were binary floats before they were written: a columnar file says which of its columns hold them.

use super::{Kind, Tape};

impl Tape {
    /// Marks the numbers at the ends of `paths` as floats. A step is a member's name, or none for every element or member.
    pub fn mark_floats(&mut self, text: &str, paths: &[Vec<Option<String>>]) {
        for path in paths {
            self.mark(text, 0, path);
        }
    }

    fn mark(&mut self, text: &str, at: u32, path: &[Option<String>]) {
        let node = self.node(at);
        let Some((step, rest)) = path.split_first() else {
            if let Some(node) = self.nodes.get_mut(at as usize).filter(|node| node.kind == Kind::Number) {
                node.kind = Kind::Float;
            }
            return;
        };
        let mut child = at + 1;
        match node.kind {
            Kind::Array if step.is_none() => {
                while child < node.next {
                    self.mark(text, child, rest);
                    child = self.node(child).next;
                }
            }
            Kind::Object => {
                while child < node.next {
                    let value = child + 1;
                    let name = super::Value { tape: self, text, at: child };
                    if step.as_deref().is_none_or(|wanted| name.is(wanted)) {
                        self.mark(text, value, rest);
                    }
                    child = self.node(value).next;
                }
            }
            _ => {}
        }
    }
}
