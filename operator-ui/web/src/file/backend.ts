// The backend of a file that shows one flow: the data embedded in it, without a server.
import type { Socket } from "../net";
import { toFlow } from "../router";
import type { Down, Exported, Up } from "../wire";
import { Answers } from "./answers";
import { hear } from "./line";
import { unpacked } from "./unpack";

export const FILE: boolean = true;
/** A file has one path; places within it follow the `#`. */
export const PREFIX: string = "#";

let answers: Answers | null = null;

/** Reads what the file holds. Called once, before anything is shown. */
export async function load(): Promise<Exported> {
  const text = await unpacked(document.getElementById("flow")?.textContent ?? "");
  const data = JSON.parse(text) as Exported;
  answers = new Answers(data);
  return data;
}

export const request = (path: string, init: RequestInit): Promise<Response> =>
  Promise.resolve(answers === null || init.method === "POST" ? new Response(null, { status: 404 }) : answers.answer(path));

/** A line to the data: it opens at once, and never breaks. */
export function openSocket(): Socket {
  const socket: Socket = {
    onopen: null, onmessage: null, onclose: null,
    send: (text) => queueMicrotask(() => { if (answers !== null) hear(answers, JSON.parse(text) as Up, say); }),
    close: () => undefined,
  };
  const say = (down: Down): void => socket.onmessage?.({ data: JSON.stringify(down) });
  queueMicrotask(() => {
    if (answers === null) return;
    socket.onopen?.();
    say(answers.hello());
  });
  return socket;
}

/** Behind the `#`; at first it is the flow. */
export function place(): { pathname: string; search: string; hash: string } {
  const said = location.hash.slice(1);
  if (!said.startsWith("/p/") && answers !== null) return new URL(toFlow(answers.data.flow).slice(PREFIX.length), "file:///");
  return new URL(said, "file:///");
}

/** In a file, the time is that of its export. */
export const now = (): number => (answers === null ? Date.now() : Date.parse(answers.data.exported_at));
