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

export default defineConfig({
  base: "/console/",
  plugins: [linguiMacros(), react(), lingui({ configPath })],
  build: {
    manifest: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2023",
    reportCompressedSize: false,
    chunkSizeWarningLimit: 700,
  },
  server: { proxy: { "/graphql": { target: server, ws: true, changeOrigin: true, headers: { origin: server } } } },
});
