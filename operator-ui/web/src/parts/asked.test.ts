// What is asked, drawn: the card beside a feed shows every fact that the inbox shows.
import { render } from "svelte/server";
import { describe, expect, it } from "vitest";
import AskBody from "./AskBody.svelte";
import type { Ask, AskKind } from "../wire";

const facts = [
  { label: "Server", value: "memo runs node memo.js in /srv/memo", warn: false }, { label: "Environment", value: "TOKEN = the secret memo", warn: false },
  { label: "Tool", value: "note, as defined by 0123456789ab", warn: false }, { label: "Network", value: "The server's program decides", warn: true },
];
const kind: AskKind = { kind: "consent", consent: "c", action: "h", tool: "mcp__memo__note", shown: 'mcp__memo__note {"text":"hello"}', facts, for_the_flow: "Every call of mcp__memo__note, by any role in this flow", diff: null };
const ask = { id: "a", flow: { project: "p", flow: "f" }, title: "t", role: "owner", node: "n", since: "2026-01-01", blocking: true, kind, waiting_behind: ["review"], earlier: [], said_before: null } as unknown as Ask;
const said = (full: boolean, of: Ask = ask): string[] => [...render(AskBody, { props: { ask: of, full } }).body.replaceAll(/<!--.*?-->/g, "").matchAll(/<d[td][^>]*>(.*?)<\/d[td]>/g)].map((found) => found[1] ?? "");

describe("the facts of servers that wait to be approved", () => {
  it("are shown whole for each of them, in the inbox and beside a feed", () => {
    const servers = [
      { label: "Server", value: "memo runs node memo.js in /", warn: false }, { label: "Environment", value: "NODE_OPTIONS = --require=./evil.cjs", warn: false },
      { label: "Server", value: "other runs other in /", warn: false }, { label: "Environment", value: "Nothing of yours", warn: false },
    ];
    const waits = { ...ask, waiting_behind: [], kind: { kind: "text", reason: "provider", question: "the MCP server memo was not approved", may_retry: true, facts: servers } } as Ask;
    expect(said(false, waits)).toEqual(servers.flatMap((fact) => [fact.label, fact.value]));
    expect(said(true, waits)).toEqual(said(false, waits));
  });
});

describe("the facts of a call", () => {
  it("are the same beside a feed as in the inbox", () => {
    expect(said(false)).toEqual(said(true));
    expect(said(false)).toEqual([...facts.flatMap((fact) => [fact.label, fact.value]), "Waiting behind it", "review", "Allow for this flow", "Every call of mcp__memo__note, by any role in this flow"]);
  });
});
