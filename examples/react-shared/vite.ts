import react from "@vitejs/plugin-react";
import type { UserConfig } from "vite";

/** What both apps are built and served with. TRIPLANE_URL names the server that they talk with. */
export function shared(): UserConfig {
  const server = process.env["TRIPLANE_URL"] ?? `http://127.0.0.1:${process.env["PORT"] ?? "4000"}`;
  // The app's own server hands /graphql on, so that the browser sees one origin; Triplane refuses others by itself.
  const proxy = { "/graphql": { target: server, ws: true, changeOrigin: true, headers: { origin: server } } };
  return { plugins: [react()], server: { proxy }, preview: { proxy } };
}
