// The projects of the workspace and their defaults, loaded on first use.
import { SvelteMap } from "svelte/reactivity";
import { get } from "./api";
import { ORDER } from "./said/retrospective";
import type { ImprovementMode, ProjectRow, Projects } from "./wire";

class Known {
  #rows = new SvelteMap<string, ProjectRow>();
  #asked = false;
  /** A project's row; null until the server has sent it. */
  of(name: string): ProjectRow | null {
    if (!this.#asked) {
      this.#asked = true;
      void this.read();
    }
    return this.#rows.get(name) ?? null;
  }
  async read(): Promise<ProjectRow[]> {
    this.#asked = true;
    try {
      const told = await get<Projects>("/api/projects");
      for (const row of told.projects) this.#rows.set(row.name, row);
      return told.projects;
    } catch (error) {
      this.#asked = false;
      throw error;
    }
  }
}
export const projects = new Known();

/** Whether and how the retrospective runs, within a sentence. */
export const retrospective = (mode: ImprovementMode): string => (mode === "none" ? ORDER.none : `a retrospective ${ORDER[mode]}`);

/** What happens when the work of a new flow is done and nothing is chosen for it: in words of a choice. */
export function usualEnd(from: "file" | "project" | "draft", project: Pick<ProjectRow, "name" | "ready" | "improve"> | null): string {
  if (project?.improve) return `As ${project.name} chooses: ${retrospective(project.improve)}`;
  // Without a project there are no roles with documents to correct.
  return from === "file" && project?.ready !== true ? "End after the forward pass, unless the file says otherwise" : "Ask me about the retrospective";
}

/** The project that a flow file belongs to: that of its folder, else the workspace's own. */
export const projectOf = <P extends Pick<ProjectRow, "name" | "bare">>(file: string, known: readonly P[]): P | null => known.find((p) => p.bare !== true && p.name === file.trim().split("/")[0]) ?? known[0] ?? null;
