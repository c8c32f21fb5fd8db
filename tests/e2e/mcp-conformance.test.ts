import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const run = promisify(execFile);

const SUITE = fileURLToPath(import.meta.resolve("@modelcontextprotocol/conformance/package.json")).replace(
  /package\.json$/,
  "dist/index.js",
);
const CLIENT = fileURLToPath(new URL("../support/mcp-servers/conformance-client.ts", import.meta.url));

/** The scenarios for clients of the suite, without those of OAuth and of skills. */
const PASSED = [
  "initialize",
  "tools_call",
  "sse-retry",
  "request-metadata",
  "http-standard-headers",
  "http-invalid-tool-headers",
  "json-schema-ref-no-deref",
  "json-schema-2020-12-preservation",
  "elicitation-sep1034-client-defaults",
  "sep-2322-client-request-state",
] as const;

/** Scenarios that are not passed, with the checks that fail and the reason. */
const NOT_PASSED = {
  // A null for a boolean does not fit the tool's schema: the gate does not let the call out.
  "http-custom-headers": ["sep-2243-client-omit-null"],
} as const;

async function outputOf(scenario: string): Promise<string> {
  const command = `${process.execPath} ${CLIENT}`;
  const args = [SUITE, "client", "--command", command, "--scenario", scenario, "--timeout", "60000"];
  // A failed check ends the suite with an error, which has the same output.
  const ended = await run(process.execPath, args, { timeout: 90_000 }).catch((error: unknown) => error);
  const { stdout, stderr } = ended as { readonly stdout: string; readonly stderr: string };
  return stdout + stderr;
}

describe("the conformance suite of the protocol, for clients", { timeout: 120_000 }, () => {
  it.each(PASSED)("passes %s", async (scenario) => {
    expect(await outputOf(scenario)).toContain("OVERALL: PASSED");
  });

  it.each(Object.entries(NOT_PASSED))("fails of %s only the checks that are known", async (scenario, known) => {
    const output = await outputOf(scenario);
    const failed = [...output.matchAll(/\[([\w-]+) *\] \S*FAILURE/g)].map(([, check = ""]) => check);
    expect(failed.toSorted()).toEqual([...known].toSorted());
  });
});
