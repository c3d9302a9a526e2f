import { expect, test } from "vitest";
import { meant, waits } from "./words";

const FILES = ["a-docs/index.yaml", "a-docs/roles/writer/role.md", "a-docs/roles/writer/style.md", "a-docs/style.md"];

test("a finding means the file it names first, with or without the folder, else one of that name", () => {
  expect(meant("Please see a-docs/roles/writer/style.md, not index.yaml.", FILES)).toBe("a-docs/roles/writer/style.md");
  expect(meant("roles/writer/role.md says nothing of dates", FILES)).toBe("a-docs/roles/writer/role.md");
  expect(meant("role.md says nothing of dates", FILES)).toBe("a-docs/roles/writer/role.md");
  expect(meant("Nothing to say.", FILES)).toBeNull();
});

test("a change waits until it is applied or declined", () => {
  expect((["open", "said-already", "file-changed", "applied", "declined"] as const).map(waits)).toEqual([true, true, true, false, false]);
});
