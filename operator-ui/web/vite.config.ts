// How the page is built: stable file names, no source maps, nothing inline, the same bytes everywhere.
// With `--mode file` it is built a second time as one script and one style, for files that show a flow by themselves.
import { readdirSync } from "node:fs";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

/** Where the sources are served while they are worked on: a debug build takes the page's files from there. */
const DEV = { host: "127.0.0.1", port: 5173, strictPort: true };

const here = (path: string): string => new URL(path, import.meta.url).pathname;

/** What a build knows of its modules. */
interface Modules { getModuleInfo(id: string): { importedIds: readonly string[] } | null }
/** Every part of a folder of the sources. */
const partsOf = (folder: string): string[] => readdirSync(here(folder)).filter((name) => name.endsWith(".svelte")).map((name) => `${folder}/${name}`);
const dialogs = partsOf("src/parts").filter((name) => /(Dialog|Help|AskConfigure|Reopen|ProjectFile)\.svelte$/.test(name));

/**
 * What is one file, because it is shown together: each has its roots and all that they import, but for what one before
 * it has. An answer costs some hundred bytes before its first useful one, and small texts pack badly.
 */
const TOGETHER: readonly [name: string, ...roots: string[]][] = [
  ["first", "src/main.ts", "src/across.ts", "src/parts/MidCut.svelte", "src/parts/AskBody.svelte", "src/parts/AskControls.svelte", "src/parts/Monogram.svelte", "src/parts/Glyph.svelte", "src/parts/Quiet.svelte", "src/parts/LineNotice.svelte", "src/pace.ts", "src/parts/Voice.svelte", "src/parts/Notify.svelte", "src/parts/PastBanner.svelte"],
  ["inbox", "src/routes/Inbox.svelte"],
  ["text", "src/parts/Markdown.svelte"],
  ["own", "src/parts/CameIn.svelte", "src/parts/OwnTurn.svelte", "src/parts/HandedOver.svelte"],
  ["diff", "src/parts/DiffShown.svelte"],
  ["phone", "src/parts/TabBar.svelte"],
  ["signed-out", "src/parts/SignIn.svelte", "src/parts/Replaced.svelte"],
  ["parts", "src/parts/Windowed.svelte", "src/parts/Json.svelte", "src/parts/Modal.svelte", "src/parts/flows/list.ts"],
  ["canvas", "src/figures.ts", "src/parts/graph/Canvas.svelte", "src/parts/graph/model.ts"],
  ["feed", "src/parts/FeedPane.svelte"],
  ["flow", "src/routes/Flow.svelte", "src/parts/HarmBanner.svelte", "src/views/GraphView.svelte", "src/parts/TimeStrip.svelte"],
  ["flows", "src/routes/Flows.svelte", "src/parts/settings/FirstModel.svelte"],
  ["changes", "src/routes/Findings.svelte", "src/views/ImproveView.svelte"],
  ["dialogs", ...dialogs],
  ["settings", "src/routes/Settings.svelte", ...partsOf("src/parts/settings")],
];

/** The name of the file that a module is in; null leaves it to the bundler. What is imported later is not followed. */
const names = new WeakMap<Modules, ReadonlyMap<string, string>>();
function together(id: string, modules: Modules): string | null {
  let known = names.get(modules);
  if (known === undefined) {
    const found = new Map<string, string>();
    for (const [name, ...roots] of TOGETHER) {
      const left = roots.map(here);
      for (let at = left.pop(); at !== undefined; at = left.pop()) {
        if (found.has(at)) continue;
        found.set(at, name);
        left.push(...(modules.getModuleInfo(at)?.importedIds ?? []));
      }
    }
    names.set(modules, (known = found));
  }
  return known.get(id) ?? null;
}
// Those before have the higher priority, or one would take what another is named for along with what imports it.
const groups = TOGETHER.map(([name], at) => ({ name: (id: string, modules: Modules) => (together(id, modules) === name ? name : null), debugName: name, priority: TOGETHER.length - at }));

/** Names each file once in the list of what lazily loaded modules need, to which they refer by its place. */
function eachOnce(code: string): string {
  const listed = /\bm\.f=(\["[^\]]*\])/.exec(code)?.[1];
  if (listed === undefined) return code;
  const all = JSON.parse(listed) as string[];
  const once = [...new Set(all)];
  return code
    .replace(listed, JSON.stringify(once))
    .replace(/__vite__mapDeps\(\[([\d,]*)\]\)/g, (_, places: string) => `__vite__mapDeps([${[...new Set(places.split(",").map((place) => once.indexOf(all[Number(place)] ?? "")))].join()}])`);
}

/**
 * A lazily loaded module that shares a chunk with others gets a facade chunk that only re-exports it;
 * this imports the right chunk directly, and drops the facade.
 */
const noDetours: Plugin = {
  name: "no-detours",
  enforce: "post",
  generateBundle: {
    order: "post",
    handler(_, bundle) {
      const passed = new Map<string, { name: string; from: string }>();
      for (const [file, chunk] of Object.entries(bundle)) {
        const only = chunk.type === "chunk" ? /^export\{(\w+) as default\}from"\.\/([\w.-]+)";?\s*$/.exec(chunk.code) : null;
        if (only?.[1] === undefined || only[2] === undefined) continue;
        passed.set(file.replace("assets/", ""), { name: only[1], from: only[2] });
        delete bundle[file];
      }
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== "chunk") continue;
        chunk.code = chunk.code
          .replace(/import\(([`"'])\.\/([\w.-]+)\1\)/g, (whole, _quote, file: string) => { const to = passed.get(file); return to === undefined ? whole : `import("./${to.from}").then(m=>({default:m.${to.name}}))`; })
          .replace(/(["'`])assets\/([\w.-]+)\1/g, (whole, quote: string, file: string) => { const to = passed.get(file); return to === undefined ? whole : `${quote}assets/${to.from}${quote}`; });
        chunk.code = eachOnce(chunk.code);
      }
    },
  },
};

/** What the build says when a new version of a package is written in another way. */
const GONE = (what: string): string => `what is cut away is not there any more, ${what}: see UNUSED in vite.config.ts`;
/** What packages bring along that the page does not use and the bundler cannot tell, since it acts when it is loaded. */
const UNUSED: readonly { file: RegExp; cut: (code: string) => string }[] = [
  // Tokens are drawn by the page's own components; what follows the lexer makes markup of them.
  {
    file: /\/marked\/lib\/marked\.esm\.js$/,
    cut: (code) => {
      const known = (name: string): string => new RegExp(`[{,](\\w+) as ${name}\\b`).exec(code)?.[1] ?? "?";
      const rest = code.indexOf(`var ${known("Renderer")}=class`);
      if (rest < 0 || code.indexOf(`var ${known("Lexer")}=class`) > rest) throw new Error(GONE("what follows marked's lexer"));
      return `${code.slice(0, rest)}export{${known("Lexer")} as Lexer};`;
    },
  },
  // Of its algorithms on graphs dagre itself takes two, by a list of all.
  {
    file: /\/dagre\/dist\/dagre\.esm\.js$/,
    cut: (code) => {
      const all = /\b\w+\(\w+,\{Graph:\(\)=>\w+,alg:\(\)=>(\w+)\}\);/.exec(code);
      const list = /\bvar (\w+)=\{\};\w+\(\1,\{CycleException:[^}]*\bpostorder:\(\)=>(\w+),preorder:\(\)=>(\w+)[^}]*\}\);/.exec(code);
      if (all === null || list === null || all[1] !== list[1]) throw new Error(GONE("dagre's algorithms"));
      return code.replace(all[0], "").replace(list[0], `var ${list[1]}={postorder:${list[2]},preorder:${list[3]}};`);
    },
  },
];
const onlyUsed: Plugin = {
  name: "only-used",
  transform: {
    filter: { id: UNUSED.map(({ file }) => file) },
    handler: (code, id) => ({ code: UNUSED.reduce((left, { file, cut }) => (file.test(id) ? cut(left) : left), code), map: null }),
  },
};

const FOR_FILES = defineConfig({
  plugins: [svelte(), onlyUsed],
  resolve: { alias: [
    { find: /^(\.{1,2}\/)+backend$/, replacement: here("src/file/backend.ts") },
    { find: /^.*\.worker\?worker&url$/, replacement: here("src/file/no-worker.ts") },
  ] },
  publicDir: false,
  build: {
    target: "es2023",
    outDir: "dist/file",
    sourcemap: false,
    modulePreload: false,
    reportCompressedSize: false,
    cssCodeSplit: false,
    rolldownOptions: {
      input: "src/file/main.ts",
      output: { codeSplitting: false, entryFileNames: "page.js", assetFileNames: "page[extname]" },
    },
  },
});

const FOR_SERVER = defineConfig({
  plugins: [svelte(), onlyUsed, noDetours],
  build: {
    target: "es2023",
    outDir: "dist",
    assetsDir: "assets",
    // An inlined asset would be a data: address that the content security policy refuses.
    assetsInlineLimit: 0,
    sourcemap: false,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      preserveEntrySignatures: "allow-extension",
      output: {
        entryFileNames: "assets/[name].js",
        chunkFileNames: "assets/[name].js",
        assetFileNames: "assets/[name][extname]",
        codeSplitting: { groups },
      },
    },
  },
  worker: { format: "es", plugins: () => [onlyUsed], rolldownOptions: { output: { entryFileNames: "assets/[name].js", chunkFileNames: "assets/[name].js" } } },
  // The page is opened at the program's address, and gets changes from here.
  // What only some screens need is found at the start, or finding it would load the page anew.
  optimizeDeps: { include: ["@dagrejs/dagre", "marked", "virtua/svelte"] },
  server: { ...DEV, hmr: { host: DEV.host, clientPort: DEV.port } },
  test: { include: ["src/**/*.test.ts"], environment: "node", server: { deps: { inline: ["@dagrejs/dagre", "marked"] } } },
});

export default defineConfig(({ mode }) => (mode === "file" ? FOR_FILES : FOR_SERVER));
