import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { buildSchema } from "graphql";
import { carriedNodeProblems } from "./carried-node.ts";
import { textProblems } from "./console-texts.ts";
import { generatedDrift } from "./generated-drift.ts";
import { proseProblems } from "./prose-forms.ts";
import { breakingChanges, releasedSchema } from "./schema-changes.ts";

/** `npm run check`: types, lint with the boundaries, format, generated files, prose, what breaks the released contract, tests. `--static` leaves the tests out. */
const MODULES = "node_modules";

// It has one thread, and takes as long as all types: it runs beside the other steps, and is heard at the end.
const format = begin([`${MODULES}/prettier/bin/prettier.cjs`, "--check", "--log-level=warn", "."]);
for (const project of [".", "console", "examples/react-apollo", "examples/react-urql"])
  step(`types of ${project}`, [`${MODULES}/typescript/bin/tsc`, "-p", project]);
step("lint and boundaries", [`${MODULES}/oxlint/bin/oxlint`, "-c", "oxlint.config.ts", "--deny-warnings", "."]);
console.log("\ngenerated files …");
const stale = await generatedDrift();
if (stale.length > 0) fail(`generated files are not up to date: ${stale.join(", ")}. Run \`npm run codegen\` and commit them.`);
console.log("\nthe texts of the console …");
const untold = await textProblems();
if (untold.length > 0) fail(untold.join("; "));
console.log("\nthe carried Node …");
const old = await carriedNodeProblems();
if (old.length > 0) fail(old.join("; "));
console.log("\nprose …");
const folded = await proseProblems();
if (folded.length > 0)
  fail(
    `${folded.join("; ")}. CONTRIBUTING.md, "Prose", says how to write it; \`npm run prose -- --show FORM\` prints each sentence.`,
  );
console.log("\nthe contract …");
const breaking = breakingChanges(await releasedSchema(), buildSchema(await readFile("schema.graphql", "utf8")));
if (breaking.length > 0)
  fail(
    `these changes break clients of the released contract: ${breaking.map(({ description }) => description).join(" ")} Deprecate instead (docs/upgrading.md).`,
  );
console.log("\nformat …");
const formatted = await format;
if (formatted.code !== 0) fail(`${formatted.said}format: failed`);
if (!process.argv.includes("--static")) step("tests", [`${MODULES}/vitest/vitest.mjs`, "run"]);

/** Runs a step beside the others; all that it says is kept. */
async function begin(args: readonly string[]): Promise<{ readonly code: number | null; readonly said: string }> {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (said += text));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, said };
}

function step(name: string, args: readonly string[]): void {
  console.log(`\n${name} …`);
  const { status } = spawnSync(process.execPath, args, { stdio: "inherit" });
  if (status !== 0) fail(`${name}: failed`);
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}
