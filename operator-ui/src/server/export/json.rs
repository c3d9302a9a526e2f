//! The data of a file as it is written: member by member, each without secrets, and never too much.

use serde::Serialize;

use super::pieces::quoted;
use super::scrub::Scrub;
use super::wanted::{Failed, Part};

/// A member of an object.
pub(super) struct Member<T> {
    pub(super) name: String,
    pub(super) value: T,
}

/// An object that is being written.
pub(super) struct Json<'a> {
    pub(super) scrub: Scrub<'a>,
    bytes_max: usize,
    text: String,
    /// What can be left out, and how much of it there is so far.
    sizes: Vec<(Part, usize)>,
}

impl<'a> Json<'a> {
    pub(super) const fn new(scrub: Scrub<'a>, bytes_max: usize) -> Self {
        Self {
            scrub,
            bytes_max,
            text: String::new(),
            sizes: Vec::new(),
        }
    }

    fn name(&mut self, name: &str) {
        self.text.push(if self.text.is_empty() { '{' } else { ',' });
        self.text.extend([quoted(name)]);
        self.text.push(':');
    }

    /// How much more there is room for.
    pub(super) const fn room(&self) -> usize {
        self.bytes_max.saturating_sub(self.text.len())
    }

    fn put<T: Serialize>(&mut self, value: &T) -> Result<(), Failed> {
        let value = serde_json::to_value(value).unwrap_or_default();
        let clean = self.scrub.value(value).to_string();
        if self.text.len() + clean.len() > self.bytes_max {
            let largest = self.sizes.iter().max_by_key(|(_, bytes)| *bytes);
            return Err(Failed::TooLarge {
                largest: largest.map(|(part, bytes)| (*part, *bytes)),
            });
        }
        self.text.push_str(&clean);
        Ok(())
    }

    /// One member.
    pub(super) fn member<T: Serialize>(&mut self, name: &str, value: &T) -> Result<(), Failed> {
        self.name(name);
        self.put(value)
    }

    /// A member that can be left out.
    pub(super) fn part<T: Serialize>(
        &mut self,
        name: &str,
        part: Part,
        value: &T,
    ) -> Result<(), Failed> {
        self.name(name);
        self.counted(Some(part), value)
    }

    /// A member that is an object with these members.
    pub(super) fn object<T: Serialize>(
        &mut self,
        name: &str,
        part: Option<Part>,
        each: impl IntoIterator<Item = Member<T>>,
    ) -> Result<(), Failed> {
        self.name(name);
        self.text.push('{');
        let mut is_first = true;
        for Member { name, value } in each {
            if !std::mem::take(&mut is_first) {
                self.text.push(',');
            }
            let key = quoted(&self.scrub.text(&name));
            self.text.extend([key.as_str(), ":"]);
            self.counted(part, &value)?;
        }
        self.text.push('}');
        Ok(())
    }

    /// A member that is a list of these.
    pub(super) fn list<T: Serialize>(
        &mut self,
        name: &str,
        part: Option<Part>,
        each: impl IntoIterator<Item = T>,
    ) -> Result<(), Failed> {
        self.name(name);
        self.text.push('[');
        let mut is_first = true;
        for value in each {
            if !std::mem::take(&mut is_first) {
                self.text.push(',');
            }
            self.counted(part, &value)?;
        }
        self.text.push(']');
        Ok(())
    }

    fn counted<T: Serialize>(&mut self, part: Option<Part>, value: &T) -> Result<(), Failed> {
        let before = self.text.len();
        let put = self.put(value);
        // What did not find room is what there was too much of.
        let written = (self.text.len() - before).max(usize::from(put.is_err()));
        if let Some(part) = part {
            match self.sizes.iter_mut().find(|(of, _)| *of == part) {
                Some((_, bytes)) => *bytes += written,
                None => self.sizes.push((part, written)),
            }
        }
        put
    }

    /// All of it.
    pub(super) fn done(mut self) -> (String, u64) {
        self.text.push('}');
        (self.text, self.scrub.withheld)
    }
}
