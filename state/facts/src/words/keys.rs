//! What keys do that have buttons or are on the terminal, too; the lists of keys are in [`super::acts`].

use super::words;

words! {
    texts {
        /// Another part of the screen gets the keys.
        NEXT_PART = "go to the next part of the screen";
        /// A role stops where it is.
        STOP_THE_TURN = "stop the turn of the role whose feed is shown";
        /// The list of commands, places and finds.
        SEARCH_OR_JUMP = "search or jump to";
        /// The list of keys.
        ALL_KEYS = "all keys";
        /// A dialog for a new flow.
        START_A_FLOW = "start a flow";
        /// A dialog for a copy of a flow as it was at the moment that is shown.
        FORK_FROM_HERE = "fork from here";
        /// From a moment of the past.
        BACK_TO_LIVE = "back to live";
        /// One event back on the time strip.
        PREVIOUS_EVENT = "previous event";
        /// One event on.
        NEXT_EVENT = "next event";
        /// A question is out of the way for a while.
        SNOOZE = "snooze";
    }
}
