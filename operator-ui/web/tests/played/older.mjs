// The same stage for a program from before flows had rules (`A_SOCIETY_OLDER=1`), so that its pictures can be put beside those of
// today (`changes.mjs`): its flows ask nothing until the one that must.
import { basename } from "node:path";

export const older = process.env.A_SOCIETY_OLDER === "1";
/** It works on the workspace itself. The older one does so by itself. */
export const workspace = older ? [] : ["--project", "."];

/** Begins a flow that may do what `allow` says without asking. */
export async function begins(place, order) {
  if (!older) return place.ask("POST", "/api/flows", order);
  const { allow: _, ...rest } = order;
  if (rest.improve === "graph-based") rest.improve = "graph_based";
  // A folder of flow files would be a project.
  const file = basename(order.from.file);
  if (file !== order.from.file) place.put(file, place.read(order.from.file));
  const made = await place.ask("POST", "/api/flows", { ...rest, from: { file } });
  place.run("mode", made.flow, "full-access");
  return made;
}
/** From here on a call that no rule allows is asked about. */
export function asksFrom(place, flow) {
  if (older) place.run("mode", flow, "no-access");
}
/** What a model says that calls a file of the record by its whole path, and ends its turn by a block of text. */
export function inRecord(answer, body) {
  const [, folder] = (older && /(\/[^"`\s\\]*\/record)\b/.exec(body)) || [];
  if (folder === undefined) return answer;
  const calls = [];
  let text = answer.text?.replaceAll("_path: record/", "_path: ");
  for (const [tool, given] of answer.calls ?? []) {
    if (tool === "handoff") text += block(given.targets.map((to) => `- target_node_id: ${to.target_node_id}\n  artifact_path: ${basename(to.artifact_path)}`).join("\n"));
    else if (tool === "ask_operator") text += `\n\n${given.question}${block("type: prompt-human")}`;
    else calls.push([tool, given.path?.startsWith("record/") ? { ...given, path: folder + given.path.slice("record".length) } : given]);
  }
  return { ...answer, text, calls };
}
const block = (lines) => `\n\n\`\`\`handoff\n${lines}\n\`\`\`\n`;
