import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readCommandLine } from "../src/agent/bash/read-command-line.ts";
import { Workspace } from "../src/agent/workspace/workspace.ts";
import type { Figure } from "./figure.ts";

const READINGS = 5_000;

/** Lines as agents write them. */
const ORDINARY = [
  "git status",
  "git log --oneline -10 src",
  "npm run build && npm test",
  'grep -rn "export function" src | head -20',
  "sed -n '10,40p' src/a.ts",
  "cd src && find . -name '*.ts' -not -path '*/deep/*' | wc -l",
  "cat package.json | jq '.scripts'",
  "FOO=1 timeout 60 npx vitest run tests/a.test.ts > out.txt 2>&1",
];
/** Lines of 8 KB that are as dense as they can be. */
const HEAVY = ["a;", "a|", "echo `", "xargs -n ", "$(", "<<a ", "sh -c 'a';"].map((unit) =>
  unit.repeat(Math.floor(8_000 / unit.length)),
);

/** Reading a command line into its commands, with the files that it names; ms a line. */
export async function commandsParse(): Promise<Figure[]> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "triplane-bench-")));
  try {
    const at = { workspace: new Workspace(folder), folder: ".", environment: [] };
    const time = (line: string): number => {
      const started = performance.now();
      readCommandLine(line, at);
      return performance.now() - started;
    };
    for (let index = 0; index < READINGS; index += 1) time(ORDINARY[index % ORDINARY.length] ?? "");
    const times = Array.from({ length: READINGS }, (_, index) => time(ORDINARY[index % ORDINARY.length] ?? ""));
    const worst = Math.max(...HEAVY.map((line) => Math.min(time(line), time(line), time(line))));
    const mean = times.reduce((sum, each) => sum + each, 0) / times.length;
    return [
      { name: "command line", value: mean, unit: "ms", baseline: null, ratio: null },
      { name: "command line, heaviest", value: worst, unit: "ms", baseline: null, ratio: null },
    ];
  } finally {
    await rm(folder, { recursive: true });
  }
}
