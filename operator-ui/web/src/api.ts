// Requests outside the socket: what is too large for it, or asked for once.
import { request } from "./backend";
import { inSentences } from "./words";
import type { Ask, Fault, Files, FlowRef, ItemBody } from "./wire";

/** A request that the server refused, in the words it gave. */
export class Refused extends Error {
  readonly fault: Fault;
  readonly status: number;
  constructor(status: number, fault: Fault) {
    super(fault.what);
    this.status = status;
    this.fault = inSentences(fault);
  }
}

async function answer<T>(response: Response): Promise<T> {
  if (response.ok) return (await response.json()) as T;
  let fault: Fault = { code: String(response.status), what: "The server refused this.", why: response.statusText, try: "Reload the page." };
  try {
    const told: unknown = await response.json();
    if (typeof told === "object" && told !== null && "what" in told) fault = told as Fault;
  } catch {
    // The body was no JSON; the status says what there is to say.
  }
  throw new Refused(response.status, fault);
}

/** Reads from an address under `/api`. */
export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return answer<T>(await request(path, { signal: signal ?? null, headers: { accept: "application/json" } }));
}

/** Reads what is no JSON from an address under `/api`. */
export async function getRaw(path: string, signal?: AbortSignal): Promise<Response> {
  const response = await request(path, { signal: signal ?? null, headers: { accept: "text/plain" } });
  return response.ok ? response : answer<never>(response);
}
export const getText = async (path: string, signal?: AbortSignal): Promise<string> => (await getRaw(path, signal)).text();

/** Sends to an address under `/api`. */
export async function post<T>(path: string, body: unknown): Promise<T> {
  return answer<T>(await request(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }));
}

/** Sends bytes as they are to an address under `/api`. */
export async function upload<T>(path: string, body: Blob): Promise<T> {
  return answer<T>(await request(path, { method: "POST", headers: { "content-type": "application/octet-stream" }, body }));
}

/** An address of one flow, such as `…/track`; pairs that are null are left out. */
export function flowApi(flow: FlowRef, path: string, query: Record<string, string | number | null> = {}): string {
  const pairs = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== null) pairs.set(key, String(value));
  const text = pairs.toString();
  return `/api/flow/${encodeURIComponent(flow.project)}/${encodeURIComponent(flow.flow)}/${path}${text === "" ? "" : `?${text}`}`;
}

/** The whole text of a feed item, a page at a time. */
export function itemBody(flow: FlowRef, item: string, offset = 0, signal?: AbortSignal): Promise<ItemBody> {
  return get<ItemBody>(flowApi(flow, `item/${encodeURIComponent(item)}/body`, { offset }), signal);
}

/** The parts of one screen ask within a moment, and once is enough; what is asked for later, or for another ask, is new. */
const SAME_MS = 1_000;
let handed: { of: string; at: number; told: Promise<Files> } | null = null;

/** What was handed over in the flow of an ask by the time that it was asked. */
export function handedOver(ask: Ask): Promise<Files> {
  const of = JSON.stringify([ask.flow, ask.id, ask.since]);
  if (handed === null || handed.of !== of || Date.now() - handed.at > SAME_MS) {
    handed = { of, at: Date.now(), told: get<Files>(flowApi(ask.flow, "files")) };
    handed.told.catch(() => { handed = null; });
  }
  return handed.told;
}
