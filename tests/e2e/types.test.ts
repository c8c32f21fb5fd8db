import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { temporaryFolder } from "../support/app.ts";
import { runFile } from "../support/process.ts";

const ROOT = resolve(import.meta.dirname, "../..");

/** A configuration as authors write one, with mistakes that their editor should show where they are. */
const CONFIGURATION = `import { defineConfig, defineTool, optional, Type } from "triplane";

const weather = defineTool({
  name: "weather",
  description: "Tells the weather.",
  readOnly: true,
  inputSchema: Type.Object({ town: Type.String(), days: optional(Type.Integer()) }),
  run: ({ town, days }) => ({ output: town, details: { town, days } }),
});

const wrong = defineTool({
  name: "wrong",
  description: "Is wrong.",
  readOnly: true,
  inputSchema: Type.Object({ town: Type.String() }),
  // @ts-expect-error a number is no answer
  run: ({ town }) => town.length,
});

export default defineConfig({
  models: { script: { provider: "scripted", script: "script.json" } },
  templates: {
    assistant: {
      model: "script",
      systemPrompt: "You are careful.",
      // @ts-expect-error there is no such setting
      maxStep: 5,
    },
  },
  tools: [weather, wrong],
  hooks: { preToolUse: ({ name }) => (name === "weather" ? { decision: "ask" } : undefined) },
  on: { DONE: ({ reason }) => console.log(reason) },
});
`;

it("the declarations of triplane serve the configuration of an author whose target and lib are older than the server's", async () => {
  const built = runFile("scripts/build-types.ts");
  expect(await built.exited, built.output()).toBe(0);
  const [, types = ""] = /^wrote (.*)$/m.exec(built.output()) ?? [];
  const guide = await readFile(join(ROOT, "docs/configuration.md"), "utf8");
  const [, written = ""] = /```json\n(\{\n {2}"compilerOptions"[^]*?)```/.exec(guide) ?? [];
  const { compilerOptions } = JSON.parse(written.replace("/path/to/the/checkout/.triplane/types/triplane.d.ts", types)) as {
    readonly compilerOptions: object;
  };
  const folder = await temporaryFolder();
  const config = {
    compilerOptions: {
      ...compilerOptions,
      target: "es2022",
      lib: ["es2022"],
      types: ["node"],
      typeRoots: [join(ROOT, "node_modules/@types")],
    },
    files: ["triplane.config.ts"],
  };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config));
  await writeFile(join(folder, "triplane.config.ts"), CONFIGURATION);
  const compiled = promisify(execFile)(process.execPath, [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", folder]);
  await expect(
    compiled.then(
      ({ stdout }) => stdout,
      (error: { stdout: string }) => error.stdout,
    ),
  ).resolves.toBe("");
}, 60_000);
