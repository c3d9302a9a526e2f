//! How a turn hands its work on.

use super::words;

words! {
    texts {
        /// A turn's file goes to those after it.
        HAND_OVER = "hand over";
        /// The same, once it is done.
        HANDED_OVER = "handed over";
        /// Work goes back to who made it.
        SEND_BACK = "send back";
        /// The same, once it is done.
        SENT_BACK = "sent back";
        /// A turn ends without a handoff, until more comes in.
        WAIT_FOR_MORE = "wait for more";
        /// The closing node ends the forward work.
        CLOSE_THE_FLOW = "close the flow";
        /// A turn that writes one file ends with it.
        FINISH = "finish";
        /// Nothing was handed over at the end.
        WORK_ENDS_HERE = "the work ends here; nothing is handed over";
        /// The operator approved a handoff.
        HANDOFF_APPROVED = "handoff approved";
        /// The operator sent a handoff back.
        HANDOFF_SENT_BACK = "handoff sent back";
        /// A handoff waits for the operator.
        WAITING_FOR_APPROVAL = "waiting for your approval";
    }
    templates {
        /// A turn's file goes to these nodes.
        hand_over_to(nodes) = "hand over to {nodes}";
        /// Work goes back to these nodes.
        send_back_to(nodes) = "send back to {nodes}";
        /// This node sent work back to this role.
        sent_this_back(node, role) = "{node} sent this back to {role}";
    }
}
