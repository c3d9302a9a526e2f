//! How full a model's window is, and what follows: the session is compacted, or, where that
//! cannot help, the operator is asked.

use a_society_facts::fact::node::Trouble;
use a_society_facts::message::Message;
use a_society_facts::words::tokens;

use super::hear::size_of;
use super::limits::{
    BYTES_A_TOKEN_AT_MOST, BYTES_A_TOKEN_USUALLY, FREED_SHARE, FRUITLESS_MAX, FULL_PERCENT,
    FULL_PERCENT_SMALL, SMALL_WINDOW_TOKENS,
};
use super::taker::{ModelNext, ModelTaker};
use crate::turn::step::TakerEnd;

/// What is known about the window besides the last count.
#[derive(Debug, Default)]
pub(super) struct Filling {
    /// Whether an answer has come since the taker was made.
    asked: bool,
    /// The provider's message when it refused a request as too long, until the session is shorter.
    refused: Option<String>,
    /// How often in a row the session was compacted and the window was full nevertheless.
    fruitless: u32,
    /// How many messages the last count saw.
    counted: usize,
}

/// What is to be done about the window before the next request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fullness {
    /// Nothing.
    Free,
    /// The session must become shorter.
    Shorten,
    /// It would not help.
    Stuck,
}

/// How many tokens of a window may be full before the session is compacted.
pub(super) const fn full_tokens(window: u64) -> u64 {
    let percent = if window <= SMALL_WINDOW_TOKENS {
        FULL_PERCENT_SMALL
    } else {
        FULL_PERCENT
    };
    window.saturating_mul(percent) / 100
}

impl Filling {
    /// What the last count saw of a conversation that goes on: everything up to its last answer.
    pub(super) fn of(messages: &[std::sync::Arc<Message>]) -> Self {
        let is_said = |message: &std::sync::Arc<Message>| {
            matches!(
                **message,
                Message::Assistant { .. } | Message::AssistantToolCalls { .. }
            )
        };
        let last = messages.iter().rposition(is_said);
        Self {
            counted: last.map_or(0, |last| last + 1),
            ..Self::default()
        }
    }
}

impl ModelTaker {
    /// Whether the window is nearly full, as far as anybody knows.
    pub(super) fn is_full(&self) -> bool {
        let window = self.gear.model.window;
        if window == 0 || self.context == 0 {
            return false;
        }
        let since = self.said.get(self.filling.counted..).unwrap_or_default();
        let since: usize = since.iter().map(|said| size_of(&said.message)).sum();
        let since = since as u64 / BYTES_A_TOKEN_USUALLY;
        self.context >= full_tokens(window) || self.context.saturating_add(since) >= window
    }

    pub(super) fn fullness(&self) -> Fullness {
        if self.is_hopeless() {
            return Fullness::Stuck;
        }
        let is_refused = self.filling.refused.is_some();
        if !is_refused && (self.no_summary || !self.is_full()) {
            return Fullness::Free;
        }
        let most = if is_refused { 1 } else { FRUITLESS_MAX };
        if self.filling.fruitless < most && self.would_help() {
            return Fullness::Shorten;
        }
        // What was counted before may be out of date: the operator may have mended it since.
        if is_refused || self.filling.asked {
            Fullness::Stuck
        } else {
            Fullness::Free
        }
    }

    /// Whether the part that stays is larger than the window, however tokens are counted. A provider would
    /// refuse such a request, and some local servers read a part of it and say nothing.
    fn is_hopeless(&self) -> bool {
        let window = self.gear.model.window;
        window > 0 && self.fixed_bytes() / BYTES_A_TOKEN_AT_MOST > window
    }

    /// Whether enough of the window is filled by what can be summarised.
    fn would_help(&self) -> bool {
        let (fixed, rest) = (self.fixed_bytes(), self.rest_bytes());
        let all = fixed.saturating_add(rest).max(1);
        if rest.saturating_mul(FREED_SHARE) < all {
            return false;
        }
        let window = self.gear.model.window;
        if self.filling.refused.is_some() || window == 0 {
            return true;
        }
        let fixed = self.fixed_tokens();
        fixed.saturating_add(window / FREED_SHARE) < full_tokens(window)
    }

    /// How long the part of a request is that stays whatever is summarised: the system prompt, the
    /// tools, and the packet or what replaced the conversation before.
    fn fixed_bytes(&self) -> u64 {
        self.prompt_bytes() + self.opening_bytes()
    }

    /// The same in tokens, by the last count of everything that was there then.
    fn fixed_tokens(&self) -> u64 {
        let fixed = self.fixed_bytes();
        if self.context == 0 {
            return fixed / BYTES_A_TOKEN_USUALLY;
        }
        let seen = self.said.get(..self.filling.counted).unwrap_or_default();
        let seen: usize = seen.iter().map(|said| size_of(&said.message)).sum();
        let all = self.prompt_bytes().saturating_add(seen as u64).max(1);
        self.context.saturating_mul(fixed.min(all)) / all
    }

    /// How long the system prompt and the tools are.
    pub(super) fn prompt_bytes(&self) -> u64 {
        let tools = self.kit.as_ref().map_or(&[][..], |kit| kit.offered());
        let each = |tool: &a_society_providers::ToolDefinition| {
            tool.name.len() + tool.description.len() + tool.schema.get().len()
        };
        let tools: usize = tools.iter().map(each).sum();
        (self.job.system_prompt.len() + tools) as u64
    }

    fn opening_bytes(&self) -> u64 {
        let first = self.said.first().map(|said| &*said.message);
        match first {
            Some(message @ Message::User { .. }) => size_of(message) as u64,
            Some(_) | None => 0,
        }
    }

    fn rest_bytes(&self) -> u64 {
        let all: usize = self.said.iter().map(|said| size_of(&said.message)).sum();
        (all as u64).saturating_sub(self.opening_bytes())
    }

    /// An answer came, and its provider counted what it read.
    pub(super) fn counted(&mut self, is_cut: bool) {
        self.filling.asked = true;
        self.filling.counted = self.said.len();
        if !is_cut && !self.is_full() {
            self.filling.fruitless = 0;
        }
    }

    /// The provider says that the request is too long.
    pub(super) fn refused_as_too_long(&mut self, why: &str) -> ModelNext {
        self.filling.refused = Some(why.to_owned());
        self.no_summary = false;
        ModelNext::Ask
    }

    /// No summary can be had before the operator has mended something; requests leave as they are.
    pub(super) fn without_summary(&mut self) {
        self.no_summary = true;
        self.filling.refused = None;
    }

    /// The session is shorter, and what was counted before says nothing any more.
    pub(super) fn emptied(&mut self) {
        self.context = 0;
        let said = self.said.iter().map(|said| &*said.message);
        self.gear.tools.holds_images_of(said);
        self.no_summary = false;
        self.filling.refused = None;
        self.filling.fruitless = self.filling.fruitless.saturating_add(1);
        self.filling.counted = self.said.len();
    }

    /// The turn ends, because its requests do not fit into the window.
    pub(super) fn stuck(&self) -> TakerEnd {
        let (fixed, rest) = (self.fixed_bytes(), self.rest_bytes());
        let all = fixed.saturating_add(rest).max(1);
        let fixed_tokens = self.fixed_tokens();
        let model = &self.gear.model;
        let name = &model.name;
        let window = match model.window {
            0 => format!("{name} has a window of unknown size"),
            window => format!("{name} has a window of {} tokens", tokens(window)),
        };
        let (role, flow) = (&self.job.role, &self.job.flow);
        let refused = match &self.filling.refused {
            Some(why) => format!("The provider refuses the request: {why}.\n"),
            None => String::new(),
        };
        let is_small = model.window == 0
            || fixed_tokens.saturating_add(model.window / FREED_SHARE) < full_tokens(model.window);
        let shorter = if is_small && rest.saturating_mul(FREED_SHARE) >= all {
            format!("Make the conversation shorter: `a-society session compact {flow} {role}`.")
        } else {
            "A shorter conversation would not help.".to_owned()
        };
        TakerEnd::provider(
            Trouble::Window,
            format!(
                "{window}, and the system prompt, the tools and the packet alone take about {} \
                 tokens.\n{refused}{shorter}\n\
                 Give {role} a model with a larger window: `a-society configure {flow} {role} \
                 model=NAME`.\n\
                 Or raise `window:` of {name} in the configuration, and the context size of its \
                 server, if they can be larger.\n\
                 Or shorten what the role has to read. Then reply, or `a-society retry {flow}`.",
                tokens(fixed_tokens),
            ),
        )
    }

    /// What the operator is asked if a server has dropped a part of the first request of a
    /// conversation in silence.
    ///
    /// Every word between spaces is at least one token with all usual tokenizers, and three words
    /// of four tokens are usual. A count of less than 60 % of that is less than the number of
    /// words, which no honest count is.
    pub(super) fn cut_in_silence(&self, input_tokens: u64, body_bytes: u64) -> Option<TakerEnd> {
        if !self.gear.provider.may_cut() || input_tokens < super::limits::CUT_TOKENS_MIN {
            return None;
        }
        let [said] = &self.said[..] else { return None };
        let words = |text: &str| {
            text.split_ascii_whitespace()
                .filter(|word| is_word(word))
                .count()
        };
        let Message::User { content } = &*said.message else {
            return None;
        };
        let words = (words(&self.job.system_prompt) + words(content)) as u64;
        let least = words.saturating_mul(4) / 3;
        if input_tokens.saturating_mul(100) >= least.saturating_mul(60) {
            return None;
        }
        let about = least.max(body_bytes / BYTES_A_TOKEN_USUALLY);
        let name = &self.gear.model.name;
        Some(TakerEnd::provider(
            Trouble::Window,
            format!(
                "{name} took {} of about {} tokens; raise its context size or lower `window:` \
                 of {name} in the configuration, and then `a-society retry {}`.",
                tokens(input_tokens),
                tokens(about),
                self.job.flow,
            ),
        ))
    }
}

/// Whether a text between spaces has a letter or a digit of its own.
fn is_word(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_full_at_80_percent_and_a_small_one_at_70() {
        assert_eq!(full_tokens(200_000), 160_000);
        assert_eq!(full_tokens(32_768), 22_937);
        assert_eq!(full_tokens(20_000), 14_000);
        assert_eq!(full_tokens(32_769), 26_215);
    }
}
