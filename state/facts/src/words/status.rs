//! What flows and nodes are doing.

use super::words;

words! {
    texts {
        /// A role is at work.
        WORKING = "working";
        /// It mends what came back.
        CORRECTING = "correcting";
        /// A request is sent again at once.
        RETRYING = "retrying";
        /// A provider's limit is awaited.
        LIMITED = "limited";
        /// A provider's limit is over.
        LIMIT_RESETS = "limit resets";
        /// A session is being compacted.
        COMPACTING = "compacting";
        /// The operator is wanted.
        WAITING_FOR_YOU = "waiting for you";
        /// The operator plays this role.
        YOUR_TURN = "your turn";
        /// A chat takes no messages.
        CLOSED = "closed";
        /// What other nodes send is awaited.
        WAITING_FOR_HANDOFF = "waiting for a handoff";
        /// The operator paused it.
        PAUSED = "paused";
        /// No process drives the flow: where there is little room.
        STOPPED = "stopped";
        /// No process drives the flow.
        NOBODY_DRIVES_IT = "stopped: nobody drives it";
        /// The journal cannot be read to its end.
        DAMAGED = "damaged";
        /// The ledger of the flow does not answer.
        LEDGER_UNREACHABLE = "ledger unreachable";
        /// It will run as soon as it may.
        READY = "ready";
        /// Nothing arrived at a node.
        NOT_REACHED = "not reached";
        /// A node handed over all it owes.
        DONE = "done";
        /// A flow is over.
        COMPLETED = "completed";
        /// A flow was called off.
        CANCELLED = "cancelled";
        /// A node waits, where there is little room.
        WAITING = "waiting";
        /// A node's turn failed.
        FAILED = "failed";
    }
    templates {
        /// A request is sent again after this long.
        retrying_in(time) = "retrying in {time}";
        /// A request waits because another role met the limit of its provider: for so long, and when that is over.
        waiting_for_rate_limit(provider, time) = "waiting for the rate limit of {provider}, {time}";
        rate_limit_of(provider) = "waiting for the rate limit of {provider}";
        /// A request waits because its model failed too often in a row: for so long, and when that is over.
        waiting_to_recover(provider, time) = "waiting for {provider} to recover, {time}";
        recovers(provider) = "waiting for {provider} to recover";
        /// What goes on at its time, and why it waits.
        because(what, why) = "{what}: {why}";
        /// A provider's limit is over after this long.
        limit_resets_in(time) = "limit resets in {time}";
        /// These nodes are awaited.
        waiting_for(nodes) = "waiting for {nodes}";
    }
}
