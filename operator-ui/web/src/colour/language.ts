// Which language a text is in, by the end of its name or by the word at its fence. Pure, and all that is loaded before a code is shown.

const ENDS: Record<string, string> = {
  ts: "script", tsx: "script", mts: "script", cts: "script", js: "script", jsx: "script", mjs: "script", cjs: "script", typescript: "script", javascript: "script", svelte: "script", vue: "script",
  rs: "rust", rust: "rust", go: "go", golang: "go", java: "java", kt: "java", kts: "java", kotlin: "java", scala: "java", swift: "java", cs: "java", csharp: "java", dart: "java", php: "java",
  c: "c", h: "c", cc: "c", cpp: "c", hpp: "c", cxx: "c", "c++": "c", py: "python", pyi: "python", python: "python", rb: "ruby", ruby: "ruby", lua: "lua",
  sh: "shell", bash: "shell", zsh: "shell", fish: "shell", shell: "shell", console: "shell", makefile: "shell", mk: "shell", dockerfile: "shell",
  yaml: "yaml", yml: "yaml", toml: "yaml", ini: "yaml", conf: "yaml", cfg: "yaml", env: "yaml", json: "json", jsonl: "json", json5: "json", sql: "sql", css: "css", scss: "css", less: "css", html: "markup", htm: "markup", xml: "markup", svg: "markup",
};

/** The language of a file; null where it has no colours. */
export function languageOf(name: string): string | null {
  const last = name.slice(name.lastIndexOf("/") + 1).toLowerCase();
  return ENDS[last.slice(last.lastIndexOf(".") + 1)] ?? null;
}
