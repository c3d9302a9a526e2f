// What a file says on the line that a server would speak on: a snapshot of what is asked for, and that this is all.
import type { Down, Topic, Up } from "../wire";
import type { Answers } from "./answers";

/** Answers one message of the page. */
export function hear(answers: Answers, up: Up, say: (down: Down) => void): void {
  switch (up.t) {
    case "sub": return sub(answers, up.id, up.topic, say);
    case "ping": return say({ t: "pong", n: up.n });
    case "do": return say({ t: "ack", cmd: up.cmd, ok: false, error: { code: "read-only", what: "Nothing can be done here.", why: "This is a file that shows a flow.", try: "Open the flow in a-society serve." } });
    case "unsub": case "live":
  }
}

function sub(answers: Answers, id: number, topic: Topic, say: (down: Down) => void): void {
  const { epoch, seq } = answers.data;
  const state = answers.state(topic);
  if (state === null) return say({ t: "gone", id, why: "This file shows another flow." });
  say({ t: "snap", id, seq, epoch, state });
  say({ t: "caught_up", id, seq, head: seq });
}
