// Generated from state/facts/src/words by `A_SOCIETY_UPDATE=1 cargo test -p a-society-facts --lib the_page_says`. Do not edit.

export const HAND_OVER = "hand over";
export const HANDED_OVER = "handed over";
export const SEND_BACK = "send back";
export const SENT_BACK = "sent back";
export const WAIT_FOR_MORE = "wait for more";
export const CLOSE_THE_FLOW = "close the flow";
export const FINISH = "finish";
export const WORK_ENDS_HERE = "the work ends here; nothing is handed over";
export const HANDOFF_APPROVED = "handoff approved";
export const HANDOFF_SENT_BACK = "handoff sent back";
export const WAITING_FOR_APPROVAL = "waiting for your approval";
export const handOverTo = (nodes: string): string => `hand over to ${nodes}`;
export const sendBackTo = (nodes: string): string => `send back to ${nodes}`;
export const sentThisBack = (node: string, role: string): string => `${node} sent this back to ${role}`;
