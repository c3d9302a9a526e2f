// How the page is built: stable file names, no source maps, nothing inline, the same bytes everywhere.
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

/** Where `a-society serve` listens while the page is worked on. */
const SERVER = process.env.A_SOCIETY_SERVER ?? "http://127.0.0.1:4870";

export default defineConfig({
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
  server: { proxy: { "/api": { target: SERVER, ws: true } } },
  test: { include: ["src/**/*.test.ts"], environment: "node" },
});
