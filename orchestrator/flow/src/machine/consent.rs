//! Consent to tool calls: asked, answered, withdrawn (rows S10 to S14).

use a_society_facts::Fact;
use a_society_facts::Hash;
use a_society_facts::fact::node::{NodeSuspended, NodeWoken, WaitReason};
use a_society_facts::fact::operator::{
    AnsweredBefore, ConsentAnswer, ConsentMode, ConsentModeChanged, ConsentRequested,
    ConsentResolved, ConsentRules, ConsentRulesAdded, ConsentRulesRemoved, DecidingRule, Grant,
    GrantAdded,
};
use a_society_facts::id::{ClientId, ConsentId};
use a_society_facts::message::Text;
use a_society_facts::view::flow::FlowState;
use a_society_facts::view::flow::OpenConsent;

use super::input::{Brought, ConsentAsked, OperatorWords, RuleAnswered, VerbNeed};
use super::refusal::Refusal;
use super::turn::{TurnAt, heard, place};

/// One request per role instance at a time; the role that asks waits.
pub(super) fn asked(state: &FlowState, input: &ConsentAsked) -> Result<Vec<Fact>, Refusal> {
    let turn = heard(state, input.turn, input.attempt)?;
    let role = &turn.role;
    if turn.stop {
        return Err(Refusal::Stopping { turn: input.turn });
    }
    if state.consents.values().any(|open| open.role == *role) {
        let role = role.clone();
        return Err(Refusal::AsksAlready { role });
    }
    match place(state, input.turn, turn) {
        None => return Err(Refusal::TurnWaits { turn: input.turn }),
        Some(TurnAt::Nothing) => return Err(Refusal::Stopping { turn: input.turn }),
        Some(TurnAt::Node(_) | TurnAt::Reflection | TurnAt::Feedback) => {}
    }
    let tool = state.calls.get(&input.call).map(|call| call.tool.clone());
    let open = OpenConsent {
        call: input.call.clone(),
        role: role.clone(),
        node: turn.node.clone(),
        tool: tool.unwrap_or_default(),
        action: input.action,
        shown: input.shown.clone(),
        terms: Some(input.terms.clone()),
        narrowed: input.narrowed,
        doubt: input.doubt.clone(),
        anew: input.anew,
        since: turn.since,
    };
    let request = Fact::ConsentRequested(ConsentRequested {
        consent: input.consent.clone(),
        call: open.call.clone(),
        role: open.role.clone(),
        node: open.node.clone(),
        tool: open.tool.clone(),
        action: open.action,
        shown: open.shown.clone(),
        terms: open.terms.clone(),
        narrowed: open.narrowed,
        doubt: open.doubt.clone(),
        anew: open.anew,
    });
    let next = if state.consent_mode == ConsentMode::FullAccess && !open.narrowed {
        answered_before(&input.consent, &open, AnsweredBefore::FullAccess)
    } else {
        consent_awaited(&input.consent, &open)
    };
    Ok(vec![request, next])
}

pub(super) fn consent_awaited(consent: &ConsentId, open: &OpenConsent) -> Fact {
    Fact::NodeSuspended(NodeSuspended {
        consent: Some(consent.clone()),
        ..NodeSuspended::of(open.node.clone(), open.role.clone(), WaitReason::Consent)
    })
}

pub(super) fn resolved(
    consent: &ConsentId,
    open: &OpenConsent,
    answer: ConsentAnswer,
    client: Option<&ClientId>,
) -> Fact {
    Fact::ConsentResolved(ConsentResolved {
        consent: consent.clone(),
        answer,
        action: open.action,
        by: None,
        beforehand: None,
        reason: None,
        client: client.cloned(),
    })
}

/// The answer to a request that was decided before it was asked.
pub(super) fn answered_before(
    consent: &ConsentId,
    open: &OpenConsent,
    before: AnsweredBefore,
) -> Fact {
    Fact::ConsentResolved(ConsentResolved {
        consent: consent.clone(),
        answer: match before {
            AnsweredBefore::FullAccess => ConsentAnswer::AllowOnce,
            AnsweredBefore::Grant => ConsentAnswer::AllowFlow,
        },
        action: open.action,
        by: None,
        beforehand: Some(before),
        reason: None,
        client: None,
    })
}

/// The role that waits for this answer goes on with its turn.
pub(super) fn woken(state: &FlowState, consent: &ConsentId) -> Option<Fact> {
    let mut waits = state.waits();
    let (node, waiting) = waits.find(|(_, w)| w.consent.as_ref() == Some(consent))?;
    Some(Fact::NodeWoken(NodeWoken {
        on_time: false,
        client: None,
        node: node.cloned(),
        role: waiting.role.clone(),
        reason: waiting.reason,
    }))
}

/// A request with its answer, and the wake-up of the role that waits for it.
pub(super) fn settle(
    state: &FlowState,
    consent: &ConsentId,
    open: &OpenConsent,
    answer: ConsentAnswer,
    client: Option<&ClientId>,
) -> impl Iterator<Item = Fact> {
    let fact = resolved(consent, open, answer, client);
    [fact].into_iter().chain(woken(state, consent))
}

/// A request for consent that is open, and its name.
#[derive(Debug, Clone, Copy)]
pub(super) struct AskedConsent<'a> {
    pub(super) consent: &'a ConsentId,
    pub(super) open: &'a OpenConsent,
}

/// The request that is meant: the one that is named, or the only one. An answer to something other than
/// what would run is refused.
pub(super) fn open<'a>(
    state: &'a FlowState,
    named: Option<&ConsentId>,
    seen: Option<Hash>,
) -> Result<AskedConsent<'a>, Refusal> {
    let mut all = state.consents.iter();
    let names = || state.consents.keys().cloned().collect();
    let (consent, open) = match named {
        Some(named) => {
            let unknown = || Refusal::UnknownConsent {
                consent: named.clone(),
                open: names(),
            };
            all.find(|(known, _)| *known == named).ok_or_else(unknown)?
        }
        None => match (all.next(), all.next()) {
            (Some(only), None) => only,
            (None, _) => return Err(Refusal::NothingAsked),
            (Some(_), Some(_)) => return Err(Refusal::ManyAsked { open: names() }),
        },
    };
    if seen.is_some_and(|seen| seen != open.action) {
        let consent = consent.clone();
        return Err(Refusal::ConsentMismatch { consent });
    }
    Ok(AskedConsent { consent, open })
}

/// The operator allows a call. What cannot be granted for the rest of the flow is allowed this once.
pub(super) fn allow(
    state: &FlowState,
    asked: AskedConsent<'_>,
    for_the_flow: bool,
    brought: &Brought,
    client: Option<&ClientId>,
) -> Result<Vec<Fact>, Refusal> {
    let AskedConsent { consent, open } = asked;
    let once = || settle(state, consent, open, ConsentAnswer::AllowOnce, client);
    if !for_the_flow {
        return Ok(once().collect());
    }
    let Brought::Grant(grant, also) = brought else {
        return Err(Refusal::Needs(VerbNeed::Grant(consent.clone())));
    };
    let Some(grant) = grant else {
        return Ok(once().collect());
    };
    // The answer itself comes last, because it bears the command's name: what a crash cuts off before
    // it is recorded again when the command is repeated.
    let mut facts = granted(state, consent, grant, also);
    let answer = ConsentAnswer::AllowFlow;
    facts.extend(settle(state, consent, open, answer, client));
    Ok(facts)
}

/// The operator denies a call, and may say what to do instead.
pub(super) fn deny(
    state: &FlowState,
    asked: AskedConsent<'_>,
    reason: Option<&OperatorWords>,
    client: Option<&ClientId>,
) -> Vec<Fact> {
    let AskedConsent { consent, open } = asked;
    let facts = settle(state, consent, open, ConsentAnswer::Deny, client);
    because(facts, consent, reason.map(|words| &words.text), None)
}

/// A rule answers a request that is open.
pub(super) fn ruled(state: &FlowState, input: &RuleAnswered) -> Result<Vec<Fact>, Refusal> {
    let asked = open(state, Some(&input.consent), Some(input.action))?;
    let AskedConsent { consent, open } = asked;
    let facts = settle(state, consent, open, input.answer, None);
    Ok(because(
        facts,
        consent,
        input.reason.as_ref(),
        Some(&input.by),
    ))
}

/// The answer with its reason for the role, and with the rule that gave it.
fn because(
    facts: impl Iterator<Item = Fact>,
    consent: &ConsentId,
    reason: Option<&Text>,
    by: Option<&DecidingRule>,
) -> Vec<Fact> {
    let mut facts: Vec<Fact> = facts.collect();
    for fact in &mut facts {
        if let Fact::ConsentResolved(resolved) = fact
            && resolved.consent == *consent
        {
            resolved.reason = reason.cloned();
            resolved.by = by.cloned();
        }
    }
    facts
}

/// The grant counts from now on, and so it answers every other request that it covers.
fn granted(state: &FlowState, consent: &ConsentId, grant: &Grant, also: &[ConsentId]) -> Vec<Fact> {
    let mut facts = Vec::new();
    if !state.grants.contains(grant) {
        let grant = grant.clone();
        facts.push(Fact::GrantAdded(GrantAdded { grant }));
    }
    if state.consent_mode == ConsentMode::NoAccess {
        facts.push(Fact::ConsentModeChanged(ConsentModeChanged {
            mode: ConsentMode::PartialAccess,
            client: None,
        }));
    }
    let mut seen = vec![consent];
    for other in also {
        let Some(open) = state.consents.get(other) else {
            continue;
        };
        if !seen.contains(&other) {
            seen.push(other);
            facts.push(answered_before(other, open, AnsweredBefore::Grant));
            facts.extend(woken(state, other));
        }
    }
    facts
}

/// Rules that are there already are not recorded again.
pub(super) fn rules(
    state: &FlowState,
    rules: &ConsentRules,
    client: Option<&ClientId>,
) -> Vec<Fact> {
    let new = |rules: &[String], known: &[String]| {
        let new = rules.iter().filter(|rule| !known.contains(rule));
        new.cloned().collect()
    };
    let rules = ConsentRules {
        allow: new(&rules.allow, &state.rules.allow),
        deny: new(&rules.deny, &state.rules.deny),
    };
    if rules.is_empty() && client.is_none() {
        return Vec::new();
    }
    vec![Fact::ConsentRulesAdded(ConsentRulesAdded {
        rules,
        client: client.cloned(),
    })]
}

/// Rules that are not there cannot be taken back.
pub(super) fn rules_back(
    state: &FlowState,
    rules: &ConsentRules,
    client: Option<&ClientId>,
) -> Result<Vec<Fact>, Refusal> {
    let lists = [
        ("allow", &rules.allow, &state.rules.allow),
        ("deny", &rules.deny, &state.rules.deny),
    ];
    for (list, gone, known) in lists {
        if let Some(rule) = gone.iter().find(|rule| !known.contains(rule)) {
            let there = match known.as_slice() {
                [] => "there is none".to_owned(),
                known => format!("there are: {}", known.join(", ")),
            };
            let rule = rule.clone();
            return Err(Refusal::UnknownRule { rule, list, there });
        }
    }
    Ok(vec![Fact::ConsentRulesRemoved(ConsentRulesRemoved {
        rules: rules.clone(),
        client: client.cloned(),
    })])
}

/// A flow that need not ask any more has no open requests.
pub(super) fn mode(state: &FlowState, mode: ConsentMode, client: Option<&ClientId>) -> Vec<Fact> {
    let mut facts = vec![Fact::ConsentModeChanged(ConsentModeChanged {
        mode,
        client: client.cloned(),
    })];
    if mode == ConsentMode::FullAccess && !state.phase.is_over() {
        // A role that may do less than its flow goes on asking.
        for (consent, open) in state.consents.iter().filter(|(_, open)| !open.narrowed) {
            facts.push(answered_before(consent, open, AnsweredBefore::FullAccess));
            facts.extend(woken(state, consent));
        }
    }
    facts
}
