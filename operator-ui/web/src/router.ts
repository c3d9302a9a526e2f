// Addresses of the page. Pure: what a path means, and the path of a place. `nav.svelte.ts` keeps the current one.
import { PREFIX } from "./backend";
import type { FlowRef } from "./wire";

export const FLOW_VIEWS = ["graph", "outline", "files", "events", "improve"] as const;
export type FlowViewName = (typeof FLOW_VIEWS)[number];
export const SETTINGS = ["models", "skills", "mcp", "permissions", "look", "keys"] as const;
export type SettingsTab = (typeof SETTINGS)[number];

export type FlowRoute = {
  page: "flow";
  flow: FlowRef;
  view: FlowViewName;
  /** The address names the feed of `role`; on a phone the feed is then the screen. */
  feed: boolean;
  role: string | null;
  node: string | null;
  /** The moment that is shown; null is now. */
  at: number | null;
  /** An event to bring into view once, `#e4812`. */
  event: number | null;
  /** A file of the files view. */
  path: string | null;
  /** Kinds of the events view. */
  kind: string | null;
};
/** `event` names the message that was there at an event; it is used once, as in a feed. */
export type TranscriptRoute = { page: "transcript"; flow: FlowRef; role: string; seg: string; msg: number | null; at: number | null; event: number | null };
/** Two runs side by side; without the second it is chosen. */
export type CompareRoute = { page: "compare"; flow: FlowRef; other: FlowRef | null };
export type Route =
  | { page: "home" }
  | { page: "inbox"; ask: string | null }
  | { page: "flows"; project: string | null; state: string | null; q: string | null }
  | FlowRoute
  | TranscriptRoute
  | CompareRoute
  | { page: "roles" }
  | { page: "findings"; project: string | null }
  | { page: "settings"; tab: SettingsTab }
  | { page: "missing"; path: string };

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function whole(text: string | null): number | null {
  if (text === null || !/^\d{1,15}$/.test(text)) return null;
  return Number(text);
}

/** What an address means. */
export function parse(url: { pathname: string; search: string; hash: string }): Route {
  const parts = url.pathname.split("/").filter((part) => part !== "").map(decode);
  const query = new URLSearchParams(url.search);
  const missing: Route = { page: "missing", path: url.pathname };
  const [first, ...rest] = parts;
  if (first === undefined) return { page: "home" };
  if (first === "inbox") return { page: "inbox", ask: rest.length > 0 ? rest.join("/") : null };
  if (first === "flows") return rest.length > 0 ? missing : { page: "flows", project: query.get("project"), state: query.get("state"), q: query.get("q") };
  if (first === "roles") return { page: "roles" };
  if (first === "findings") return rest.length > 0 ? missing : { page: "findings", project: query.get("project") };
  if (first === "settings") {
    const tab = SETTINGS.find((name) => name === (rest[0] ?? "look"));
    return tab === undefined ? missing : { page: "settings", tab };
  }
  if (first !== "p" || rest[1] !== "f" || rest[0] === undefined || rest[2] === undefined) return missing;
  const flow: FlowRef = { project: rest[0], flow: rest[2] };
  const tail = rest.slice(3);
  const at = whole(query.get("at"));
  const base: FlowRoute = {
    page: "flow", flow, view: "graph", feed: false, role: query.get("role"), node: query.get("node"), at,
    event: whole(url.hash.startsWith("#e") ? url.hash.slice(2) : null), path: null, kind: query.get("kind"),
  };
  const [view, second, third] = tail;
  if (view === undefined) return base;
  if (view === "r") {
    if (second === undefined) return missing;
    if (third === "transcript") return { page: "transcript", flow, role: second, seg: query.get("seg") ?? "live", msg: whole(query.get("msg")), at, event: base.event };
    return third === undefined ? { ...base, feed: true, role: second } : missing;
  }
  if (view === "compare" && (tail.length === 1 || tail.length === 3)) return { page: "compare", flow, other: second === undefined || third === undefined ? null : { project: second, flow: third } };
  const known = FLOW_VIEWS.find((name) => name === view);
  if (known === undefined) return missing;
  return { ...base, view: known, path: known === "files" && second !== undefined ? tail.slice(1).join("/") : null };
}

function asked(pairs: Record<string, string | number | null>): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(pairs)) if (value !== null && value !== "") query.set(key, String(value));
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}

const path = (text: string): string => text.split("/").map(encodeURIComponent).join("/");

/** The address of a place. `parse` reads it back. */
export const href = (route: Route): string => PREFIX + pathOf(route);

function pathOf(route: Route): string {
  switch (route.page) {
    case "home": return "/";
    case "inbox": return route.ask === null ? "/inbox" : `/inbox/${path(route.ask)}`;
    case "flows": return `/flows${asked({ project: route.project, state: route.state, q: route.q })}`;
    case "roles": return "/roles";
    case "findings": return `/findings${asked({ project: route.project })}`;
    case "settings": return `/settings/${route.tab}`;
    case "missing": return route.path;
    case "transcript": return `${root(route.flow)}/r/${encodeURIComponent(route.role)}/transcript${asked({ seg: route.seg === "live" ? null : route.seg, msg: route.msg, at: route.at })}${route.event === null ? "" : `#e${route.event}`}`;
    case "flow": return flowHref(route);
    case "compare": return `${root(route.flow)}/compare${route.other === null ? "" : `/${path(`${route.other.project}/${route.other.flow}`)}`}`;
  }
}

function root(flow: FlowRef): string {
  return `/p/${encodeURIComponent(flow.project)}/f/${encodeURIComponent(flow.flow)}`;
}

function flowHref(route: FlowRoute): string {
  const hash = route.event === null ? "" : `#e${route.event}`;
  if (route.feed && route.role !== null) return `${root(route.flow)}/r/${encodeURIComponent(route.role)}${asked({ node: route.node, at: route.at })}${hash}`;
  const view = route.view === "graph" ? "" : `/${route.view}`;
  const file = route.view === "files" && route.path !== null ? `/${path(route.path)}` : "";
  const kind = route.view === "events" ? route.kind : null;
  return `${root(route.flow)}${view}${file}${asked({ node: route.node, role: route.role, at: route.at, kind })}${hash}`;
}

/** A place in a flow, with everything not named left at its default. */
export function flowRoute(flow: FlowRef, more: Partial<FlowRoute> = {}): FlowRoute {
  return { page: "flow", flow, view: "graph", feed: false, role: null, node: null, at: null, event: null, path: null, kind: null, ...more };
}
/** The address of a role's transcript. */
export const toTranscript = (flow: FlowRef, role: string, more: Partial<TranscriptRoute> = {}): string => href({ page: "transcript", flow, role, seg: "live", msg: null, at: null, event: null, ...more });
/** The address of a place in a flow. */
export const toFlow = (flow: FlowRef, more: Partial<FlowRoute> = {}): string => href(flowRoute(flow, more));
/** One name for a flow, for keys of maps. */
export const refKey = (flow: FlowRef): string => `${flow.project}/${flow.flow}`;
