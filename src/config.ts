/** Configurations that import from the path `./src/config.ts` instead of from `triplane`. */
export { defineConfig } from "./triplane.ts";
