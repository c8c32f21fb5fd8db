import { spawnSync } from "node:child_process";
import { generatedDrift } from "./generated-drift.ts";

/** `npm run check`: types, lint with the boundaries, format, generated files, tests. `--static` leaves the tests out. */
const MODULES = "node_modules";

for (const project of [".", "examples/react-apollo", "examples/react-urql"])
  step(`types of ${project}`, [`${MODULES}/typescript/bin/tsc`, "-p", project]);
step("lint and boundaries", [`${MODULES}/oxlint/bin/oxlint`, "-c", "oxlint.config.ts", "--deny-warnings", "."]);
step("format", [`${MODULES}/prettier/bin/prettier.cjs`, "--check", "--log-level=warn", "."]);
console.log("\ngenerated files …");
const stale = await generatedDrift();
if (stale.length > 0) fail(`generated files are not up to date: ${stale.join(", ")}. Run \`npm run codegen\` and commit them.`);
if (!process.argv.includes("--static")) step("tests", [`${MODULES}/vitest/vitest.mjs`, "run"]);

function step(name: string, args: readonly string[]): void {
  console.log(`\n${name} …`);
  const { status } = spawnSync(process.execPath, args, { stdio: "inherit" });
  if (status !== 0) fail(`${name}: failed`);
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}
