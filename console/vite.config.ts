import { transformAsync } from "@babel/core";
import macros from "@lingui/babel-plugin-lingui-macro";
import { getConfig } from "@lingui/conf";
import { lingui } from "@lingui/vite-plugin";
import react from "@vitejs/plugin-react";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";

const server = process.env["TRIPLANE_URL"] ?? "http://127.0.0.1:4000";
const configPath = fileURLToPath(new URL("lingui.config.ts", import.meta.url));
const linguiConfig = getConfig({ configPath });

/**
 * Replaces Lingui's macros in the sources that have them. Lingui's own transform is a binary, which npm leaves out under
 * Node 20.
 */
function linguiMacros(): Plugin {
  return {
    name: "lingui macros",
    enforce: "pre",
    transform: {
      filter: { id: /\.tsx?$/, code: /@lingui\/(?:core|react)\/macro/ },
      async handler(code, id) {
        const result = await transformAsync(code, {
          filename: id,
          babelrc: false,
          configFile: false,
          sourceMaps: true,
          parserOpts: { plugins: ["typescript", "jsx"] },
          plugins: [[macros, { linguiConfig, descriptorFields: this.environment.config.isProduction ? "id-only" : "all" }]],
        });
        return { code: result?.code ?? code, map: result?.map ?? null };
      },
    },
  };
}

const SOURCES = fileURLToPath(new URL("src/", import.meta.url));

/** The sources that each page loads: one file of them is smaller than a file for each set of the screens that have them. */
function atStart(importsOf: (id: string) => readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  const take = (id: string): void => {
    if (found.has(id) || !id.startsWith(SOURCES)) return;
    found.add(id);
    importsOf(id).forEach(take);
  };
  importsOf(`${SOURCES}main.tsx`).forEach(take);
  return found;
}

export default defineConfig({
  base: "/console/",
  plugins: [linguiMacros(), react(), lingui({ configPath })],
  build: {
    manifest: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2023",
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            {
              name: (id, build) =>
                id.startsWith(SOURCES) && atStart((other) => build.getModuleInfo(other)?.importedIds ?? []).has(id)
                  ? "start"
                  : null,
              debugName: "start",
            },
          ],
        },
      },
    },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 700,
  },
  server: { proxy: { "/graphql": { target: server, ws: true, changeOrigin: true, headers: { origin: server } } } },
});
