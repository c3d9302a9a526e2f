//! How calls, requests and turns end.

use super::words;
use crate::fact::turn::{CallEnd, CommandExit, TurnEnd};

words! {
    texts {
        /// A text or a turn ended before it was whole.
        CUT_OFF = "cut off";
        /// A text does not count.
        DISCARDED = "discarded";
        /// A request got no answer, for a reason that has no words here.
        NO_ANSWER = "the model did not answer";
        /// A model said nothing to a message of a chat.
        EMPTY_ANSWER = "the answer is empty";
        /// A role's server did not start.
        WITHOUT_SERVER = "works without the MCP server";
        /// A session's summary is being written.
        COMPACTING_CONTEXT = "compacting the context";
    }
    templates {
        /// A provider wants fewer requests.
        rate_limited_by(provider) = "rate limited by {provider}";
        /// A command ended by itself.
        exit_code(code) = "exit {code}";
        /// A signal ended a command.
        exit_signal(number) = "signal {number}";
        /// A session was replaced by its summary, from so many tokens, or from so many to so many.
        context_compacted(tokens) = "context compacted from {tokens} tokens";
    }
    tables {
        /// How a call ended.
        call_end: CallEnd => "CALL_END" {
            Done = "done",
            Failed = "failed",
            Denied = "denied",
            Stopped = "stopped by you",
            TimedOut = "timed out",
            NotRun = "did not run",
            Unknown = "outcome unknown: check it",
            Recovered = "found done after a crash",
        }
        /// How a turn ended.
        turn_end: TurnEnd => "TURN_END" {
            Outcome = "turn finished",
            Waiting = "turn paused",
            Stopped = "turn stopped",
            Failed = "turn failed",
            TurnLimit = "turn reached its limit of requests",
        }
    }    names {
        /// Why a request failed, by the name that facts have for it.
        failure => "FAILURE" {
            "cut_off" | "stream_cut" = "the model's answer was cut off",
            "stalled" = "the model stopped in the middle of its answer",
            "timeout" = "the model did not answer in time",
            "network" = "the model's provider was not reached",
            "tls" = "no secure connection to the model's provider",
            "garbled" = "the model's answer could not be read",
            "not_a_provider" = "nothing at the provider's address answers as a model",
            "rate_limit" = "the provider's limit was reached",
            "overloaded" = "the model's provider is overloaded",
            "server" = "the model's provider failed",
            "spend_limit" = "the provider's account has no money left",
            "key" = "the provider does not accept the key",
            "forbidden" = "the provider does not allow this request",
            "not_found" = "the provider does not have this model",
            "too_large" = "the request is too large for the provider",
            "window_full" = "the session no longer fits the model's window",
            "policy" = "the provider refused the content",
            "bad_request" | "invalid" = "the provider did not understand the request",
            "circuit_open" = "the provider failed too often to be asked again now",
        }
    }
}

/// How a command ended that nothing of ours ended.
#[must_use]
pub fn command_exit(exit: CommandExit) -> String {
    match exit {
        CommandExit::Code(code) => exit_code(&code.to_string()),
        CommandExit::Signal(number) => exit_signal(&number.to_string()),
    }
}
