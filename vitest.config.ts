import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  // Vite would take the package's development build, Node takes this one: all must see one graphql.
  resolve: {
    alias: [
      { find: /^graphql$/, replacement: fileURLToPath(import.meta.resolve("graphql")) },
      { find: /^triplane$/, replacement: fileURLToPath(new URL("src/triplane.ts", import.meta.url)) },
    ],
  },
  test: {
    // `npm test` runs the first project, `npm run test:e2e` the second: whole servers, checkouts and browsers in processes of their own.
    projects: [
      { extends: true, test: { name: "main", include: ["tests/**/*.test.ts"], exclude: ["tests/e2e/**"] } },
      { extends: true, test: { name: "e2e", include: ["tests/e2e/**/*.test.ts"] } },
    ],
    globalSetup: ["tests/support/postgres.ts"],
    setupFiles: ["tests/support/properties.ts"],
    testTimeout: 20_000,
    hookTimeout: 60_000,
    // What is waited for comes late on a busy machine: only a test's own time ends the waiting.
    expect: { poll: { timeout: 15_000 } },
    pool: "forks",
    // Files share what they have loaded: what a test changes beyond itself is put back.
    isolate: false,
    unstubEnvs: true,
    maxWorkers: 3,
  },
});
