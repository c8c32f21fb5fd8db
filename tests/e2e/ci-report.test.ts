import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { temporaryFolder } from "../support/app.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

type FileReport = {
  readonly file: string;
  readonly passed: number;
  readonly failed: readonly string[];
  readonly message?: string;
};

/** The output of .ci/report.mjs for files of tests, and its exit code. */
async function report(
  files: readonly FileReport[],
  ...args: readonly [what: "failed" | "summary", ...rest: readonly string[]]
): Promise<{ readonly lines: readonly string[]; readonly code: number | null }> {
  const path = join(await temporaryFolder(), "report.json");
  const testResults = files.map(({ file, passed, failed, message = "" }) => ({
    name: join(ROOT, file),
    status: failed.length > 0 || message !== "" ? "failed" : "passed",
    message,
    assertionResults: [
      ...Array.from({ length: passed }, () => ({ status: "passed", fullName: "fine", failureMessages: [] })),
      ...failed.map((fullName) => ({ status: "failed", fullName, failureMessages: ["expected 1 to be 2"] })),
    ],
  }));
  await writeFile(path, JSON.stringify({ testResults }));
  const [what, ...rest] = args;
  const { stdout, status } = spawnSync(process.execPath, [".ci/report.mjs", what, path, ...rest], {
    cwd: ROOT,
    encoding: "utf8",
  });
  return { lines: stdout.split("\n").filter((line) => line !== ""), code: status };
}

const FINE: FileReport = { file: "tests/a.test.ts", passed: 2, failed: [] };
const RED: FileReport = { file: "tests/b.test.ts", passed: 1, failed: ["does this"] };
const BROKEN: FileReport = { file: "tests/c.test.ts", passed: 0, failed: [], message: "it does not load" };

it("CI lists the files that failed, and says each failure, with what was flaky apart", async () => {
  expect((await report([FINE, RED, BROKEN], "failed")).lines).toEqual(["tests/b.test.ts", "tests/c.test.ts"]);
  expect(await report([FINE], "summary", "0")).toEqual({ lines: ["2 passed, 0 failed"], code: 0 });
  expect(await report([FINE, RED, BROKEN], "summary", "1")).toEqual({
    lines: [
      "failed: tests/b.test.ts: does this: expected 1 to be 2",
      "failed: tests/c.test.ts: it does not load",
      "3 passed, 3 failed",
    ],
    code: 1,
  });
  expect(await report([FINE, RED], "summary", "0", "tests/b.test.ts")).toEqual({
    lines: ["flaky, passed alone: tests/b.test.ts: does this: expected 1 to be 2", "4 passed, 0 failed"],
    code: 0,
  });
  expect(await report([], "summary", "0")).toEqual({ lines: ["0 passed, 0 failed"], code: 1 });
});
