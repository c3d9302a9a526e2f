// Where the page gets what it shows, and what its addresses look like: a server, and paths. A file that shows one
// flow is built with `file/backend.ts` in the place of this.
import type { Socket } from "./net";

/** Whether this is such a file. Nothing can be done in one but look. */
export const FILE: boolean = false;
/** The prefix of every path. */
export const PREFIX: string = "";

/** Asks for something outside the socket. */
export const request = (path: string, init: RequestInit): Promise<Response> => fetch(path, init);

export function openSocket(): Socket {
  const address = new URL("/api/socket", location.href);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  return new WebSocket(address) as unknown as Socket;
}

/** Where the page is. */
export const place = (): { pathname: string; search: string; hash: string } => location;

/** What time it is for what is shown. */
export const now = (): number => Date.now();
