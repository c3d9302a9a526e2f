// What the start dialog says about a flow's end is what happens.
import { describe, expect, it } from "vitest";
import { projectOf, usualEnd } from "./projects.svelte";

const row = (name: string, ready: boolean, flows = 0, improve: "parallel" | null = null, bare = false) => ({ name, ready, flows, improve, bare });

describe("what happens when the work of a new flow is done", () => {
  it("is the end, for a flow file without a project", () => {
    const end = "End after the forward pass, unless the file says otherwise";
    expect(usualEnd("file", null)).toBe(end);
    expect(usualEnd("file", projectOf("flows/limit.yaml", [row("ws", false), row("flows", false, 0, "parallel", true)]))).toBe(end);
  });
  it("is a question in a project, unless it chose before", () => {
    expect(usualEnd("file", projectOf("shop/a.yaml", [row("ws", false), row("shop", true)]))).toBe("Ask me about the retrospective");
    expect(usualEnd("draft", row("shop", false))).toBe("Ask me about the retrospective");
    expect(usualEnd("project", row("shop", true, 0, "parallel"))).toBe("As shop chooses: a retrospective all at once");
  });
});
