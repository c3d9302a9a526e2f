//! A question at the cursor of `run`, and what keys and lines mean to it. Pure, so that every rule of
//! answering is a test.
//!
//! One key answers where there is a choice. A key from before the question was on the screen for a while
//! answers nothing, nor does one that comes with others at once, and what was not shown to its last line
//! cannot be allowed. For who reads the screen aloud, or asks for it, a whole line is typed instead.

use a_society_facts::Hash;
use a_society_facts::Verb;
use a_society_facts::fact::improvement::ImprovementMode;
use a_society_facts::words::choices::{CHOOSE, Choice, FOR_THIS_FLOW, LATER, ONCE};
use a_society_operator_ui::fold::asks::{Answering, answers, decided, is_retried, whom};
use a_society_orchestrator::machine::OperatorQuestion;

use super::own_turn::{Act, Own};
use crate::text::{and, printed_exact};

/// What comes sooner after a question was shown, or after the key before it, was typed for something else.
pub(crate) const SETTLED_MS: i64 = 400;

/// What works once all of a call, or of what is handed over, was shown.
pub(crate) const Y_AND_F: &str = "y and f work";
pub(crate) const Y: &str = "y works";
pub(crate) const NUMBERS: &str = "a number chooses";

/// The message for an answer that came too soon.
const TOO_SOON: &str = "that was typed before you could read the question, and was not used";

/// A question at the cursor, and what of it the operator could see.
#[derive(Debug)]
pub(crate) struct Card {
    pub(crate) question: OperatorQuestion,
    /// The hash of the call that it shows, to which an answer is bound.
    action: Option<Hash>,
    /// All of the text of the call.
    text: Option<String>,
    /// Whether all of it was shown, or what it changes.
    is_whole: bool,
    /// Whether there is more to be shown than what was.
    has_more: bool,
    /// Whether it can be allowed for the rest of the flow.
    for_the_flow: bool,
    /// What may be chosen as the answer.
    choices: Vec<String>,
    /// Whether only whole lines are typed.
    is_plain: bool,
    /// Whether the reason of a no is typed.
    asks_why: bool,
    /// How a turn of the operator's own is ended, if this is one.
    own: Option<Own>,
    /// Whether it was on the screen.
    is_painted: bool,
    /// When it was shown or a key was pressed, in milliseconds.
    since: i64,
}

/// What the operator may see and allow of a call.
#[derive(Debug, Default)]
pub(crate) struct Call {
    pub(crate) action: Option<Hash>,
    pub(crate) text: Option<String>,
    /// What is shown of it first, if that is not its beginning.
    pub(crate) shown: Option<String>,
    /// Which version of what was handed over before it is.
    pub(crate) version: Option<String>,
    pub(crate) is_whole: bool,
    /// What an answer for the whole flow covers, if there is one.
    pub(crate) for_the_flow: Option<String>,
    /// What may be chosen as the answer.
    pub(crate) choices: Vec<String>,
    /// How a turn of the operator's own is ended, if this is one.
    pub(crate) own: Option<Own>,
}

/// What was typed came to this.
#[derive(Debug, PartialEq)]
pub(crate) enum Typed {
    /// An answer.
    Command(Verb),
    /// All of the call is to be shown.
    Show(String),
    /// A step towards the end of the operator's own turn.
    Own(Act),
    /// Nothing; this is printed, and it is asked again.
    Said(String),
    /// Nothing yet; it is asked for anew, perhaps in another way.
    Again,
    /// The next question is to be shown.
    Next,
    /// Nothing.
    Nothing,
}

/// What the key does that shows all of a text.
const WHOLE: &str = "whole";

impl Card {
    /// A question that is shown now.
    pub(crate) fn new(question: OperatorQuestion, call: Call, is_plain: bool, now: i64) -> Self {
        Self {
            question,
            action: call.action,
            text: call.text,
            has_more: !call.is_whole || call.shown.is_some(),
            is_whole: call.is_whole,
            for_the_flow: call.for_the_flow.is_some(),
            choices: call.choices,
            is_plain,
            asks_why: false,
            own: call.own,
            is_painted: false,
            since: now,
        }
    }

    /// Whether it is answered with a key, and not with a line.
    pub(crate) fn takes_keys(&self) -> bool {
        if let Some(own) = &self.own {
            return !self.is_plain && own.takes_keys();
        }
        !self.is_plain && !self.asks_why && !self.keys().is_empty()
    }

    /// The operator's own turn that it asks to end.
    pub(crate) const fn own(&mut self) -> Option<&mut Own> {
        self.own.as_mut()
    }

    /// How far that turn is.
    pub(crate) const fn step(&self) -> Option<&Own> {
        self.own.as_ref()
    }

    /// Whether it asks for a text.
    pub(crate) const fn is_text(&self) -> bool {
        self.own.is_none()
            && self.choices.is_empty()
            && matches!(self.question, OperatorQuestion::Text { .. })
            && !is_failure(&self.question)
    }

    /// The keys of a question that is answered with one.
    fn keys(&self) -> Vec<(char, Does)> {
        if self.is_text() {
            return Vec::new();
        }
        let answers = answers(&self.question, self.for_the_flow, self.choices.len());
        let answers = answers.into_iter();
        let keys = answers.filter_map(|answer| Some((answer.key?, Does::Answer(answer.does))));
        let mut keys: Vec<(char, Does)> = keys.collect();
        let is_text = matches!(self.question, OperatorQuestion::Text { .. });
        keys.extend(is_text.then_some(('l', Does::Later)));
        let has_more = match &self.question {
            OperatorQuestion::Consent { .. } | OperatorQuestion::Approval { .. } => true,
            OperatorQuestion::Text { .. } => !self.is_whole,
            OperatorQuestion::Configuration { .. }
            | OperatorQuestion::Improvement { .. }
            | OperatorQuestion::Feedback
            | OperatorQuestion::Unpause { .. }
            | OperatorQuestion::Stalled => false,
        };
        keys.extend((has_more && self.text.is_some()).then_some(('v', Does::Show)));
        keys
    }

    /// What a key does, in words.
    fn words(&self, does: Does) -> &str {
        match does {
            Does::Answer(Answering::Choose(Choice::Allow)) => ONCE,
            Does::Answer(Answering::Choose(Choice::AllowFlow)) => FOR_THIS_FLOW,
            Does::Answer(Answering::Pick(at)) => self.choices.get(at).map_or("", String::as_str),
            Does::Answer(does) => does.label(),
            Does::Later => LATER,
            Does::Show => WHOLE,
        }
    }

    /// What is asked for, before the cursor.
    pub(crate) fn mark(&self) -> String {
        if let Some(own) = &self.own {
            return own.mark();
        }
        if self.asks_why && is_failure(&self.question) {
            return "what instead? (empty goes back)> ".to_owned();
        }
        if self.asks_why && !self.choices.is_empty() {
            return "your answer (empty goes back)> ".to_owned();
        }
        if self.asks_why {
            return "why? (empty goes back)> ".to_owned();
        }
        if !self.takes_keys() {
            let line = mark(&self.question, self.is_whole);
            return line.unwrap_or_default().to_owned();
        }
        // The choices are in the card, each with its number.
        let picks = match self.choices.len() {
            0 => None,
            1 => Some(format!("1 {CHOOSE}")),
            10.. => Some(format!("1-9 and 0 {CHOOSE}")),
            last => Some(format!("1-{last} {CHOOSE}")),
        };
        let keys = self.keys().into_iter();
        let keys = keys.filter(|(key, _)| !key.is_ascii_digit());
        let keys = keys.map(|(key, does)| format!("{key} {}", self.words(does)));
        picks
            .into_iter()
            .chain(keys)
            .collect::<Vec<_>>()
            .join(" · ")
    }

    /// The keys and what they do, in their order, where whole lines are typed.
    pub(crate) fn choices(&self) -> Vec<(char, String)> {
        match &self.own {
            Some(own) if own.takes_keys() => own.keys(),
            Some(_) => Vec::new(),
            None if self.asks_why => Vec::new(),
            None => {
                let keys = self.keys().into_iter();
                keys.map(|(key, does)| (key, printed_exact(self.words(does))))
                    .collect()
            }
        }
    }

    /// That a key means nothing here, and which ones do.
    fn unknown(&self, key: char) -> Typed {
        let choices = self.choices();
        let keys: Vec<String> = choices.iter().map(|(key, _)| key.to_string()).collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let verb = if keys.len() == 1 { "answers" } else { "answer" };
        let key = key.escape_default();
        Typed::Said(format!("{key} does nothing here; {} {verb}", and(&keys)))
    }

    /// Keys were pressed.
    pub(crate) fn press(&mut self, keys: &[u8], now: i64) -> Typed {
        let settled = now - self.since >= SETTLED_MS;
        self.since = now;
        let key = match keys {
            // An arrow and its like.
            [0x1b, ..] => return Typed::Nothing,
            [key] if settled => char::from(*key).to_ascii_lowercase(),
            [_] => return Typed::Said(TOO_SOON.to_owned()),
            _ => {
                let says = "several keys at once answer nothing; press one of them";
                return Typed::Said(says.to_owned());
            }
        };
        if key == '\r' || key == '\n' {
            return Typed::Nothing;
        }
        if key == '\t' {
            return Typed::Next;
        }
        self.chosen(key)
    }

    /// A key was chosen, however it was typed.
    fn chosen(&mut self, key: char) -> Typed {
        if let Some(own) = &mut self.own {
            return match own.press(key) {
                Some(act) => self.stepped(act),
                None => self.unknown(key),
            };
        }
        let keys = self.keys();
        let Some((_, does)) = keys.into_iter().find(|(known, _)| *known == key) else {
            return self.unknown(key);
        };
        let does = match does {
            Does::Show => return self.show(),
            Does::Later => return Typed::Own(Act::Later),
            Does::Answer(does) => does,
        };
        let decided = decided(&self.question, self.action, &self.choices, does);
        match decided {
            Some(verb) if verb.row().agrees && !self.is_shown() => Typed::Said(self.not_shown()),
            Some(verb) => Typed::Command(verb),
            None => {
                self.asks_why = true;
                Typed::Again
            }
        }
    }

    /// What a step towards the end of the operator's own turn means for its question.
    fn stepped(&self, act: Act) -> Typed {
        match act {
            Act::Read => self.show(),
            Act::Said(says) => Typed::Said(says),
            Act::Again => Typed::Again,
            Act::Edit(_)
            | Act::Bring(_)
            | Act::End(_)
            | Act::SendBack { .. }
            | Act::Answer(_)
            | Act::Later => Typed::Own(act),
        }
    }

    /// All of its text is to be shown.
    pub(crate) fn show(&self) -> Typed {
        Typed::Show(self.text.clone().unwrap_or_default())
    }

    /// All of it was shown.
    pub(crate) const fn was_shown(&mut self, now: i64) {
        (self.is_whole, self.has_more, self.since) = (true, false, now);
    }

    /// It is on the screen, perhaps whole. A key counts a while after that.
    pub(crate) const fn was_painted(&mut self, is_whole: bool, now: i64) {
        if !self.is_painted || (is_whole && !self.is_whole) {
            self.since = now;
        }
        self.is_painted = true;
        self.is_whole |= is_whole;
    }

    /// Whether it was shown as far as it must be before it can be allowed or approved.
    pub(crate) const fn is_shown(&self) -> bool {
        let must = match &self.question {
            OperatorQuestion::Consent { .. } | OperatorQuestion::Approval { .. } => true,
            OperatorQuestion::Text { .. } => !self.choices.is_empty(),
            OperatorQuestion::Configuration { .. }
            | OperatorQuestion::Improvement { .. }
            | OperatorQuestion::Feedback
            | OperatorQuestion::Unpause { .. }
            | OperatorQuestion::Stalled => false,
        };
        self.is_whole || !must
    }

    /// What has to be done before it can be allowed.
    fn not_shown(&self) -> String {
        let then = match (self.for_the_flow, self.choices.is_empty()) {
            (true, _) => Y_AND_F,
            (false, true) => Y,
            (false, false) => NUMBERS,
        };
        let shows = if self.is_plain { "type more" } else { "v" };
        format!("not all of it was shown; {shows} shows the rest, then {then}")
    }

    /// A line was typed.
    pub(crate) fn hear(&mut self, line: &str, now: i64) -> Typed {
        if let Some(key) = self.numbered(line) {
            if now - self.since < SETTLED_MS {
                return Typed::Said(TOO_SOON.to_owned());
            }
            self.since = now;
            return self.chosen(key);
        }
        if let Some(own) = &mut self.own {
            // The first line may have been typed for something else; what a later one answers was asked then.
            if own.takes_keys() && now - self.since < SETTLED_MS {
                return Typed::Said(TOO_SOON.to_owned());
            }
            self.since = now;
            let act = own.hear(line);
            return self.stepped(act);
        }
        if self.asks_why {
            self.asks_why = false;
            self.since = now;
            let line = line.trim();
            if line.is_empty() {
                return Typed::Again;
            }
            let reply = to_reply(&self.question, line.to_owned());
            let command =
                reply.or_else(|| command(&self.question, self.action, &format!("no, {line}")));
            return command.map_or(Typed::Again, Typed::Command);
        }
        if now - self.since < SETTLED_MS {
            return Typed::Said(TOO_SOON.to_owned());
        }
        if line.trim().eq_ignore_ascii_case(MORE) && self.has_more {
            return self.show();
        }
        match command(&self.question, self.action, line) {
            Some(Verb::Allow { .. } | Verb::Approve { .. }) if !self.is_whole => {
                Typed::Said(self.not_shown())
            }
            Some(command) => Typed::Command(command),
            None if line.trim().is_empty() => Typed::Again,
            None => {
                let says = "not understood; type one of the answers in brackets";
                Typed::Said(says.to_owned())
            }
        }
    }
}

impl Card {
    /// The key whose number was typed, where whole lines are.
    fn numbered(&self, line: &str) -> Option<char> {
        let number: usize = line.trim().parse().ok()?;
        let choices = self.choices();
        let (key, _) = choices.get(number.checked_sub(1)?)?;
        self.is_plain.then_some(*key)
    }
}

/// What a key of a card does.
#[derive(Debug, Clone, Copy)]
enum Does {
    /// It answers, or begins to.
    Answer(Answering),
    /// It leaves the question for later.
    Later,
    /// It shows all of the text.
    Show,
}

/// The word that shows all of a call.
const MORE: &str = "more";

/// Whether a question can be answered at the cursor.
pub(crate) fn is_answered_here(question: &OperatorQuestion) -> bool {
    mark(question, true).is_some()
}

/// What is asked for, before the cursor. A call that was not shown whole cannot be allowed.
fn mark(question: &OperatorQuestion, is_whole: bool) -> Option<&'static str> {
    match question {
        OperatorQuestion::Consent { .. } | OperatorQuestion::Approval { .. } if !is_whole => {
            Some("not all of it is shown [more/no/no, do this instead]> ")
        }
        OperatorQuestion::Text { .. } if is_failure(question) => Some("yes retries the turn> "),
        OperatorQuestion::Text { .. } => Some("your answer> "),
        OperatorQuestion::Approval { .. } => Some("approve? [yes/no/no, because...]> "),
        OperatorQuestion::Improvement { .. } => Some("graph, parallel or none> "),
        OperatorQuestion::Feedback => Some("write the report? [yes/no]> "),
        OperatorQuestion::Unpause { .. } => Some("continue? [yes]> "),
        OperatorQuestion::Consent { .. } => Some("allow? [yes/flow/no/no, do this instead]> "),
        OperatorQuestion::Configuration { .. } | OperatorQuestion::Stalled => None,
    }
}

/// The command that a typed line means; `None` if it means nothing here. An answer to a call is bound to
/// what was shown of it.
fn command(question: &OperatorQuestion, shown: Option<Hash>, line: &str) -> Option<Verb> {
    let text = line.trim();
    let yes = match text.to_ascii_lowercase().as_str() {
        "y" | "yes" => Some(true),
        "n" | "no" => Some(false),
        _ => None,
    };
    match question {
        OperatorQuestion::Text { .. } if is_failure(question) && yes == Some(true) => {
            whom(question).map(|to| Verb::Retry { to })
        }
        OperatorQuestion::Text { .. } => {
            let text = (!text.is_empty()).then(|| text.to_owned());
            text.and_then(|text| to_reply(question, text))
        }
        OperatorQuestion::Approval { approval, .. } => {
            let approval = Some(approval.clone());
            match (yes, no_but(text)) {
                (Some(true), _) => Some(Verb::Approve { approval }),
                (None, None) => None,
                (Some(false), reason) | (None, reason) => Some(Verb::Decline { approval, reason }),
            }
        }
        OperatorQuestion::Improvement { .. } => {
            let mode = match text {
                "graph" => ImprovementMode::GraphBased,
                "parallel" => ImprovementMode::Parallel,
                "none" => ImprovementMode::None,
                _ => return None,
            };
            Some(Verb::Improve { mode })
        }
        OperatorQuestion::Feedback => yes.map(|granted| Verb::Feedback { granted }),
        OperatorQuestion::Unpause { .. } => (yes == Some(true)).then_some(Verb::Unpause {}),
        OperatorQuestion::Consent { consent, .. } => {
            let consent = Some(consent.clone());
            let for_the_flow = text.eq_ignore_ascii_case("flow");
            if yes == Some(true) || for_the_flow {
                return Some(Verb::Allow {
                    consent,
                    action: shown,
                    for_the_flow,
                });
            }
            let reason = no_but(text);
            (yes == Some(false) || reason.is_some()).then_some(Verb::Deny {
                consent,
                action: shown,
                reason,
            })
        }
        OperatorQuestion::Configuration { .. } | OperatorQuestion::Stalled => None,
    }
}

/// Whether it asks what to do about a turn that failed: to try again is the first answer, not a text.
pub(crate) const fn is_failure(question: &OperatorQuestion) -> bool {
    matches!(question, OperatorQuestion::Text { reason, .. } if is_retried(*reason))
}

/// The answer to a question for a text.
pub(crate) fn to_reply(question: &OperatorQuestion, text: String) -> Option<Verb> {
    let to = whom(question)?;
    Some(Verb::Reply {
        to,
        text,
        asked: None,
    })
}

/// What a no says should be done instead: `no, ask the editor first`. The comma is asked for, so
/// that no sentence that begins like this denies by chance.
fn no_but(text: &str) -> Option<String> {
    let (no, rest) = text.split_once(',')?;
    let is_no = ["n", "no"].iter().any(|word| no.eq_ignore_ascii_case(word));
    let rest = rest.trim();
    (is_no && !rest.is_empty()).then(|| rest.to_owned())
}

#[cfg(test)]
mod tests {
    use a_society_facts::Whom;
    use a_society_facts::fact::node::WaitReason;

    use super::*;

    #[test]
    fn a_no_may_say_what_to_do_instead() {
        let question = OperatorQuestion::Consent {
            consent: "q-1".parse().unwrap(),
            node: None,
            role: "writer".parse().unwrap(),
        };
        let reason = |line: &str| match command(&question, None, line) {
            Some(Verb::Deny { reason, .. }) => Some(reason),
            Some(_) | None => None,
        };
        assert_eq!(reason("no"), Some(None));
        assert_eq!(
            reason("No, use the copy."),
            Some(Some("use the copy.".to_owned()))
        );
        for line in ["no,", "not now, please", "nothing", "yes, do"] {
            assert_eq!(reason(line), None, "{line}");
        }
    }

    #[test]
    fn only_a_line_that_means_something_becomes_a_command() {
        let feedback = OperatorQuestion::Feedback;
        assert_eq!(
            command(&feedback, None, " YES "),
            Some(Verb::Feedback { granted: true })
        );
        assert_eq!(command(&feedback, None, "perhaps"), None);
        let text = OperatorQuestion::Text {
            node: Some("draft".parse().unwrap()),
            role: "writer".parse().unwrap(),
            reason: WaitReason::PromptHuman,
        };
        assert_eq!(command(&text, None, "   "), None);
        assert!(
            matches!(command(&text, None, "no"), Some(Verb::Reply { text, .. }) if text == "no")
        );
    }

    #[test]
    fn a_turn_that_failed_is_tried_again_by_one_key_or_told_something_else() {
        let failed = || OperatorQuestion::Text {
            node: Some("draft".parse().unwrap()),
            role: "writer".parse().unwrap(),
            reason: WaitReason::AutonomousAbort,
        };
        let card = |is_plain| {
            Card::new(
                failed(),
                Call {
                    is_whole: true,
                    ..Call::default()
                },
                is_plain,
                1_000,
            )
        };
        assert_eq!(
            card(false).mark(),
            "y retry turn · r say what to do instead · l later"
        );
        let retry = Typed::Command(Verb::Retry {
            to: Whom::Node("draft".parse().unwrap()),
        });
        assert_eq!(card(false).press(b"y", 2_000), retry);
        assert_eq!(card(false).press(b"l", 2_000), Typed::Own(Act::Later));
        let mut told = card(false);
        assert_eq!(told.press(b"r", 2_000), Typed::Again);
        assert!(
            matches!(told.hear("yes, but shorter", 2_010), Typed::Command(Verb::Reply { text, .. }) if text == "yes, but shorter")
        );
        assert_eq!(card(true).hear("yes", 2_000), retry);
        assert!(matches!(
            card(true).hear("write less", 2_000),
            Typed::Command(Verb::Reply { .. })
        ));
    }

    fn consent() -> OperatorQuestion {
        OperatorQuestion::Consent {
            consent: "q-1".parse().unwrap(),
            node: None,
            role: "writer".parse().unwrap(),
        }
    }

    fn card(is_whole: bool, for_the_flow: bool) -> Card {
        let call = Call {
            action: None,
            text: Some("all of it".to_owned()),
            is_whole,
            for_the_flow: for_the_flow.then(|| "exactly this".to_owned()),
            ..Call::default()
        };
        Card::new(consent(), call, false, 1_000)
    }

    fn says(typed: &Typed) -> &str {
        match typed {
            Typed::Said(says) => says,
            Typed::Command(_)
            | Typed::Show(_)
            | Typed::Own(_)
            | Typed::Again
            | Typed::Next
            | Typed::Nothing => "",
        }
    }

    #[test]
    fn one_key_answers_when_the_question_was_there_to_be_read() {
        let allow = |for_the_flow| {
            Typed::Command(Verb::Allow {
                consent: Some("q-1".parse().unwrap()),
                action: None,
                for_the_flow,
            })
        };
        assert_eq!(card(true, true).press(b"y", 1_400), allow(false));
        assert_eq!(card(true, true).press(b"F", 1_400), allow(true));
        assert_eq!(says(&card(true, true).press(b"y", 1_399)), TOO_SOON);
        // A key that came too soon keeps the next one back as well.
        let mut early = card(true, true);
        early.press(b"y", 1_390);
        assert_eq!(says(&early.press(b"y", 1_500)), TOO_SOON);
        assert_eq!(early.press(b"y", 1_900), allow(false));
    }

    #[test]
    fn bursts_pastes_enter_and_unknown_keys_answer_nothing() {
        let several = "several keys at once answer nothing; press one of them";
        assert_eq!(says(&card(true, true).press(b"yy", 2_000)), several);
        assert_eq!(says(&card(true, true).press(b"yes\n", 2_000)), several);
        let unknown = "q does nothing here; y, f, n, r and v answer";
        assert_eq!(says(&card(true, true).press(b"q", 2_000)), unknown);
        assert_eq!(card(true, true).press(b"\t", 2_000), Typed::Next);
        assert_eq!(
            says(&card(true, false).press(b"f", 2_000)),
            "f does nothing here; y, n, r and v answer"
        );
        for keys in [&b"\n"[..], b"\r", b"\x1b[A", b"\x1b[200~y\x1b[201~"] {
            assert_eq!(card(true, true).press(keys, 2_000), Typed::Nothing);
        }
    }

    #[test]
    fn a_call_is_allowed_only_after_all_of_it_was_shown() {
        let mut cut = card(false, true);
        let keys = "y once · f for this flow · n deny · r deny with a reason · v whole";
        assert_eq!(cut.mark(), keys);
        let first = "not all of it was shown; v shows the rest, then y and f work";
        assert_eq!(says(&cut.press(b"y", 2_000)), first);
        assert_eq!(says(&cut.press(b"f", 2_500)), first);
        assert_eq!(cut.press(b"v", 3_000), Typed::Show("all of it".to_owned()));
        assert_eq!(says(&cut.press(b"y", 3_500)), first);
        cut.was_shown(3_500);
        assert_eq!(says(&cut.press(b"y", 3_600)), TOO_SOON);
        assert!(matches!(cut.press(b"y", 4_000), Typed::Command(_)));
        // A larger screen shows all of it, which can be read from then on.
        let mut grown = card(false, true);
        grown.was_painted(false, 1_000);
        grown.was_painted(true, 2_000);
        assert_eq!(says(&grown.press(b"y", 2_300)), TOO_SOON);
        grown.was_painted(false, 2_400);
        assert!(matches!(grown.press(b"y", 2_800), Typed::Command(_)));
    }

    #[test]
    fn where_whole_lines_are_typed_a_number_is_a_key() {
        let call = || Call {
            text: Some("all of it".to_owned()),
            is_whole: true,
            ..Call::default()
        };
        let mut plain = Card::new(consent(), call(), true, 1_000);
        assert_eq!(says(&plain.hear("1", 1_100)), TOO_SOON);
        assert!(matches!(
            plain.hear("1", 2_000),
            Typed::Command(Verb::Allow { .. })
        ));
        assert!(matches!(
            plain.hear("2", 3_000),
            Typed::Command(Verb::Deny { .. })
        ));
        assert_eq!(plain.hear("3", 4_000), Typed::Again);
        assert!(
            matches!(plain.hear("9", 4_010), Typed::Command(Verb::Deny { reason: Some(why), .. }) if why == "9")
        );
        let mut keyed = Card::new(consent(), call(), false, 1_000);
        assert!(matches!(keyed.hear("1", 2_000), Typed::Said(_)));
    }

    #[test]
    fn a_no_with_a_reason_is_typed_as_a_line_and_may_be_taken_back() {
        let mut asked = card(true, true);
        assert_eq!(asked.press(b"r", 2_000), Typed::Again);
        assert!(!asked.takes_keys());
        assert_eq!(asked.hear("  ", 2_010), Typed::Again);
        assert!(asked.takes_keys());
        asked.press(b"r", 3_000);
        let Typed::Command(Verb::Deny { reason, .. }) = asked.hear("use the copy", 3_010) else {
            panic!("it is denied");
        };
        assert_eq!(reason.as_deref(), Some("use the copy"));
    }
}
