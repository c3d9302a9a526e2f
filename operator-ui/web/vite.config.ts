// How the page is built: stable file names, no source maps, nothing inline, the same bytes everywhere.
// With `--mode file` it is built a second time as one script and one style, for files that show a flow by themselves.
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

/** Where the sources are served while they are worked on: a debug build takes the page's files from there. */
const DEV = { host: "127.0.0.1", port: 5173, strictPort: true };

const here = (path: string): string => new URL(path, import.meta.url).pathname;
const FOR_FILES = defineConfig({
  plugins: [svelte()],
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
  plugins: [svelte()],
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
      output: {
        entryFileNames: "assets/[name].js",
        chunkFileNames: "assets/[name].js",
        assetFileNames: "assets/[name][extname]",
      },
    },
  },
  worker: { format: "es", rolldownOptions: { output: { entryFileNames: "assets/[name].js", chunkFileNames: "assets/[name].js" } } },
  // The page is opened at the program's address, and hears from here what changed.
  // What only some screens need is found at the start, or finding it would load the page anew.
  optimizeDeps: { include: ["@dagrejs/dagre", "@dagrejs/dagre > @dagrejs/graphlib", "marked", "virtua/svelte"] },
  server: { ...DEV, hmr: { host: DEV.host, clientPort: DEV.port } },
  test: { include: ["src/**/*.test.ts"], environment: "node" },
});

export default defineConfig(({ mode }) => (mode === "file" ? FOR_FILES : FOR_SERVER));
