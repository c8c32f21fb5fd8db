// Reads vitest's report for .ci/run. `node .ci/report.mjs failed REPORT` lists the files with a failed test. `node .ci/report.mjs summary
// REPORT FAILURES FILE …` says each failed test, and at the end `N passed, N failed`; the tests of a FILE, which passed when it ran again
// alone, are flaky and count as passed. FAILURES is the number of what failed besides the tests.
import { readFileSync } from "node:fs";
import { relative } from "node:path";

const [what, path, failures, ...flaky] = process.argv.slice(2);

/** Null if the tests wrote no report. */
function readReport() {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return null;
  }
}

const report = readReport();
const files = (report?.testResults ?? []).map(({ name, status, message, assertionResults }) => ({
  name: relative(process.cwd(), name),
  message,
  failed: assertionResults.filter((test) => test.status === "failed"),
  passed: assertionResults.filter((test) => test.status === "passed").length,
  // One that broke before its first test has none that failed.
  hasFailed: status === "failed" || assertionResults.some((test) => test.status === "failed"),
}));

if (what === "failed") {
  for (const { name, hasFailed } of files) if (hasFailed) console.log(name);
} else summarise();

function summarise() {
  if (report === null) console.error("the tests wrote no report");
  let passed = 0;
  let failed = Number(failures) + (report === null ? 1 : 0);
  for (const file of files) {
    passed += file.passed;
    if (!file.hasFailed) continue;
    const isFlaky = flaky.includes(file.name);
    const reasons = file.failed.map(
      ({ fullName, failureMessages }) => `${fullName}: ${failureMessages.join(" ").slice(0, 2_000)}`,
    );
    if (reasons.length === 0) reasons.push(file.message);
    for (const reason of reasons) console.log(`${isFlaky ? "flaky, passed alone" : "failed"}: ${file.name}: ${reason}`);
    if (isFlaky) passed += reasons.length;
    else failed += reasons.length;
  }
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
}
