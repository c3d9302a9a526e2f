import { expect, test } from "vitest";
import { endings, former, freeName, handedBefore, incoming, lacks, offered, outcome, reply } from "./ending";
import type { OwnTurn } from "./wire";

const turn: OwnTurn = { forward: ["file", "archive"], backward: ["propose"], waits: true, closes: false };

test("a turn has the ways that its node has, and one that looks back ends with its file", () => {
  expect(endings(turn)).toEqual(["over", "back", "wait"]);
  expect(endings({ ...turn, forward: [], closes: true })).toEqual(["close", "back", "wait"]);
  expect(endings({ ...turn, writes: { word: "findings", path: "record/findings/lead.md" } })).toEqual(["write"]);
});

test("the reply that ends a turn is read as a handoff, whatever was written beside it", () => {
  const to = { nodes: ["file", "archive"], path: "record/plan, final.md" };
  expect(reply("over", turn, to, "Approved.")).toBe('Approved.\n\n```handoff\n- target_node_id: "file"\n  artifact_path: "record/plan, final.md"\n- target_node_id: "archive"\n  artifact_path: "record/plan, final.md"\n```');
  expect(reply("over", turn, to, "")).toMatch(/^Hand over to file and archive: record\/plan, final\.md\n\n```handoff\n/);
  expect(reply("wait", turn, to, "")).toBe("wait");
  expect(reply("close", turn, to, "All done.")).toBe("close\nAll done.");
  expect(reply("back", turn, { nodes: ["propose"], path: "r.md" }, "```handoff\nnot this\n```")).not.toMatch(/```handoff\nnot this/);
  expect(reply("write", { ...turn, writes: { word: "report", path: "record/feedback.md" } }, to, "")).toBe("report: record/feedback.md");
});

test("what is missing is said before anything is sent", () => {
  expect(lacks("over", { nodes: [], path: "a.md" }, "x")).toMatch(/who/);
  expect(lacks("over", { nodes: ["file"], path: "a.md" }, " ")).toMatch(/Write the file/);
  expect(lacks("back", { nodes: ["propose"], path: "a.md" }, "")).toMatch(/has to change/);
  expect(lacks("wait", { nodes: [], path: "" }, "")).toBeNull();
  expect(lacks("over", { nodes: ["file"], path: "a.md" }, "x")).toBeNull();
});

test("what came in is the newest of each way, and what is held has not come in", () => {
  const version = { seq: 3, hash: "h", bytes: 1, from: "propose", to: "sign", superseded: false };
  const files = [
    { path: "record/plan.md", versions: [{ ...version, superseded: true }, { ...version, seq: 9, hash: "h2" }] },
    { path: "record/other.md", versions: [{ ...version, to: "file" }, { ...version, seq: 12, waits: true }] },
  ];
  expect(incoming(files, "sign").map((one) => [one.path, one.hash])).toEqual([["record/plan.md", "h2"]]);
});

test("a new file has a name of its own", () => {
  expect(freeName("lead", [], false)).toBe("record/lead.md");
  expect(freeName("lead", ["record/lead.md", "record/lead-2.md"], false)).toBe("record/lead-3.md");
  expect(freeName("lead", [], true)).toBe("record/lead-reason.md");
});

test("a file takes the place of its former version, or else of what went the same way", () => {
  const version = { seq: 3, hash: "h1", bytes: 1, from: "propose", to: "sign", superseded: false };
  const files = [{ path: "plan.md", versions: [version, { ...version, seq: 9, hash: "h2" }] }, { path: "new.md", versions: [{ ...version, seq: 12, hash: "h9", waits: true }] }];
  expect(former(files, "propose", { path: "plan.md", hash: "h3", to: ["other"] })).toEqual({ path: "plan.md", hash: "h2" });
  expect(former(files, "propose", { path: "new.md", hash: "h9", to: ["sign"] })).toEqual({ path: "plan.md", hash: "h2" });
  expect(former(files, "propose", { path: "new.md", hash: "h9", to: ["file"] })).toBeNull();
  expect(former(files, "propose", { path: "plan.md", hash: "h2", to: ["sign"] })).toBeNull();
  expect(former(files, "design", { path: "plan.md", hash: "h3", to: ["sign"] })).toBeNull();
});

test("a file that was handed over before cannot be chosen, nor can its name", () => {
  const version = { seq: 3, hash: "h", bytes: 1, from: "propose", to: "sign", superseded: true };
  const handed = handedBefore([{ path: "record/plan.md", versions: [version] }, { path: "record/held.md", versions: [{ ...version, waits: true }] }]);
  expect([...handed]).toEqual(["record/plan.md"]);
  expect(offered([{ path: "record/plan.md", bytes: 1 }, { path: "record/new.md", bytes: 2 }], handed)).toEqual([{ path: "record/new.md", bytes: 2, before: false }, { path: "record/plan.md", bytes: 1, before: true }]);
  expect(lacks("over", { nodes: ["file"], path: " record/plan.md" }, "x", handed)).toBe("record/plan.md was handed over before: give the file another name.");
  expect(lacks("over", { nodes: ["file"], path: "record/new.md" }, "x", handed)).toBeNull();
});

test("an outcome that may be refused is said as a wish, and not as done", () => {
  expect([outcome("over", ["close"]), outcome("back", ["draft"]), outcome("close", [])]).toEqual(["Hand over to close", "Send back to draft", "Close the flow"]);
  expect(reply("back", turn, { nodes: ["propose"], path: "r.md" }, "")).toMatch(/^Send back to propose: r\.md\n/);
});
