// The flows that lie around the busy one: each waits for something else, or is over.
import { CLOSES, handsOver } from "../model.mjs";

const line = (id, role, more = "") => `    - { id: ${id}, role: ${role}${more}, work: [Do what ${id} asks for.] }\n`;
/** A flow whose nodes follow one another; a role that is a person says so. */
const chain = (name, nodes, people = []) => `workflow:\n  name: ${name}\n  nodes:\n${nodes.map(([id, role, more]) => line(id, role, more)).join("")}  edges:${nodes.length < 2 ? " []\n" : `\n${nodes.slice(1).map(([to], at) => `    - { from: ${nodes[at][0]}, to: ${to} }\n`).join("")}`}roles:\n${[...new Set(nodes.map(([, role]) => role))].map((role) => `  ${role}: ${people.includes(role) ? "{ executor: human }" : `{ instructions: You are the ${role}. }`}\n`).join("")}`;

export const FILES = {
  "flows/billing.yaml": chain("Billing export", [["order", "owner"], ["acceptance", "clerk", ", human-colab: true"], ["close", "owner"]]),
  "flows/archive.yaml": chain("Account archive", [["analysis", "analyst"], ["close", "analyst"]]),
  "flows/offers.yaml": chain("Office chairs", [["ask", "owner"], ["sign", "lead"], ["order", "owner"]], ["lead"]),
  "flows/wizard.yaml": chain("Import wizard", [["plan", "owner"], ["build", "frontend"], ["test", "qa"], ["close", "owner"]]),
  "flows/tour.yaml": chain("Onboarding tour", [["write", "writer"]]),
  "flows/ranking.yaml": chain("Search ranking", [["measure", "analyst"], ["judge", "editor"], ["close", "analyst"]]),
  "flows/catalogue.yaml": chain("Seed catalogue", [["plan", "owner"], ["build", "backend"], ["test", "qa"], ["close", "owner"]]),
  "flows/letters.yaml": chain("Letters to members", [["send", "writer"]]),
};
const writes = (path, content) => [["write_file", { path, content }]];
const EXPORT = `# Export report

Every invoice of a month goes into one file, in the order of its numbers.

| Month | Invoices |
| --- | --- |
| January | 412 |
| February | 397 |

Credit notes stand below the invoice they belong to.
`;

/** Each role in turn writes a file and hands it on. */
async function walks(says, hour, path) {
  for (const [n, [role, to, file]] of path.entries()) {
    await says(`${hour}:${42 + n * 5}:00`, role, { calls: writes(`record/${file}`, `# ${file}\n\nWhat ${role} wrote.\n`) }, { input: 9_000, output: 800 });
    await says(`${hour}:${45 + n * 5}:00`, role, { text: handsOver(to, `record/${file}`) }, { input: 1_000, cached: 9_000 });
  }
}
/** A role writes what it found. */
async function looksBack(says, role, time) {
  const path = `record/findings/${role}-findings.md`;
  await says(`${time}:00`, role, { calls: writes(path, `# What ${role} found\n\nThe task did not say who decides.\n`) }, { input: 7_500 });
  await says(`${time}:30`, role, { text: `\`\`\`handoff\ntype: meta-analysis-complete\nfindings_path: ${path}\n\`\`\`\n` }, { input: 7_800 });
}
/** Each of them by name: when it begins, and its messages. It returns its id once it waits or is over. */
export const AROUND = {
  ranking: async ({ begin, says, rests }) => {
    const flow = await begin("09:02:00", "ranking", { improve: "parallel", feedback: false });
    await says("09:20:00", "analyst", { text: "Clicks on the first page went up.", calls: writes("record/ranking.md", "# Ranking\n\nThe new order is better in 8 of 10 searches.\n") }, { input: 6_000 });
    await says("09:21:00", "analyst", { text: handsOver("judge", "record/ranking.md") }, { input: 7_000 });
    await says("09:22:00", "editor", { calls: writes("record/verdict.md", "# Verdict\n\nKeep it.\n") }, { input: 5_000 });
    await says("09:22:30", "editor", { text: handsOver("close", "record/verdict.md") }, { input: 5_500 });
    await says("09:23:00", "analyst", { text: CLOSES }, { input: 7_400 });
    for (const [n, role] of ["editor", "analyst"].entries()) await looksBack(says, role, `09:2${4 + n}`);
    await rests(flow);
    return flow;
  },
  catalogue: async ({ begin, says, rests }) => {
    const flow = await begin("09:40:00", "catalogue", { improve: "graph-based", feedback: true });
    await walks(says, "09", [["owner", "build", "plan.md"], ["backend", "test", "seeds.md"], ["qa", "close", "verdict.md"]]);
    await says("09:58:00", "owner", { text: `Every seed of the list is in the catalogue.\n\n${CLOSES}` }, { input: 12_000 });
    await looksBack(says, "qa", "10:02");
    await rests(flow);
    return flow;
  },
  wizard: async ({ begin, says, rests }) => {
    const flow = await begin("10:10:00", "wizard");
    await walks(says, "10", [["owner", "build", "plan.md"], ["frontend", "test", "steps.md"], ["qa", "close", "verdict.md"]]);
    await says("10:58:00", "owner", { text: `Every step of the wizard is accounted for.\n\n${CLOSES}` }, { input: 12_000 });
    await rests(flow);
    return flow;
  },
  offers: async ({ begin, says, rests }) => {
    const flow = await begin("11:00:00", "offers", { improve: "none" });
    await says("11:02:00", "owner", { calls: writes("record/offers.md", "# Offers\n\n1. Twelve chairs for 3,400.\n2. Twelve chairs with arms for 4,100.\n") });
    await says("11:03:00", "owner", { text: handsOver("sign", "record/offers.md") });
    await rests(flow);
    return flow;
  },
  tour: async ({ begin, says, rests, fails }) => {
    const flow = await begin("12:40:00", "tour", { improve: "none" });
    await fails("12:41:00", "writer", { refuse: 400, kind: "invalid_request_error", message: "messages: at least one message is required" });
    await rests(flow);
    return flow;
  },
  archive: async ({ begin, says, rests }) => {
    const flow = await begin("13:10:00", "archive", { improve: "none" });
    await says("13:12:00", "analyst", { text: "Both ways work; they cost differently.", calls: [["ask_operator", { question: "Should archived accounts keep their **balance history**?\n\nIt doubles the size of the table.", options: ["Keep it", "Keep the last year", "Drop it"] }]] }, { input: 5_000 });
    await rests(flow);
    return flow;
  },
  billing: async ({ begin, says, rests }) => {
    const flow = await begin("13:20:00", "billing", { improve: "none" });
    await says("13:22:00", "owner", { calls: writes("record/order.md", "# Order\n\nAn export of all invoices, by month.\n") });
    await says("13:23:00", "owner", { text: handsOver("acceptance", "record/order.md") });
    await says("13:26:00", "clerk", { text: "I wrote down what the export holds.", calls: writes("record/export-report.md", EXPORT) }, { input: 8_000 });
    await says("13:27:00", "clerk", { text: handsOver("close", "record/export-report.md") }, { input: 1_000, cached: 8_000 });
    await rests(flow);
    return flow;
  },
};
/** What waits out a limit begins last: its time runs from the moment that the pictures show. */
export const letters = async ({ begin, says, rests, fails }) => {
  const flow = await begin("14:11:30", "letters", { improve: "none" });
  await fails("14:11:30", "writer", { refuse: 429, headers: { "retry-after": "2400" }, message: "this key may send 40 requests a minute" });
  await rests(flow);
  return flow;
};
