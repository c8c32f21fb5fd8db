import { Deadline } from "../../../../src/lib/time.ts";
import { ProgramLease, ProcessGroups } from "../../../../src/agent/workspace/process-groups.ts";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";
import { unboxed } from "../../../../src/agent/workspace/sandbox/unboxed.ts";
import { temporaryFolder } from "../../../support/app.ts";

const MEGABYTE = 1024 ** 2;

/** What a line says without a box that has few bytes for files and memory. */
async function said(line: string, folder: string): Promise<string> {
  const groups = new ProcessGroups();
  onTestFinished(() => groups.close());
  const sandbox = unboxed(groups, { memory: 200 * MEGABYTE, file: MEGABYTE });
  const env = { PATH: process.env["PATH"] ?? "" };
  const program = {
    argv: ["bash", "-c", line],
    folder,
    env,
    workspace: folder,
    home: folder,
    network: null,
    isBackground: false,
    lease: new ProgramLease(new Deadline(Infinity), { tenant: "one", agent: "a" }),
    answering: async () => true,
  } as const;
  const group = await sandbox.start(
    { ...program, look: async () => ({ covered: [], repositories: [] }) },
    AbortSignal.timeout(10_000),
  );
  group.process.stdin.end();
  const printed = await text(group.process.stdout);
  await group.ended;
  return printed;
}

it("a program without a box writes no larger file, and has no more memory, than one in a box", async () => {
  const folder = await temporaryFolder();
  expect(await said("head -c 3000000 /dev/zero > large; echo $?", folder)).not.toBe("0\n");
  expect((await stat(join(folder, "large"))).size).toBe(MEGABYTE);
  expect(await said("head -c 900000 /dev/zero > small; echo $?", folder)).toBe("0\n");
  expect(await said("x=$(head -c 400000000 /dev/zero | tr '\\\\0' x); echo ${#x}", folder)).not.toBe("400000000\n");
  expect(await said("ulimit -c", folder)).toBe("0\n");
});
