import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { untilEnd } from "../../../../src/agent/calls/programs/until-end.ts";
import { ProcessGroups, type ProcessGroup } from "../../../../src/agent/workspace/process-groups.ts";
import { temporaryFolder } from "../../../support/app.ts";

const HELD = /^something that still runs holds the output open/;

it("all that a program said is read, also if the disk takes it only long after the program's end", async () => {
  // Some of it lies in the stream's buffer of 64 KB and the rest in the system's, which must not be full: the program would wait.
  const { group } = await started("head -c 90000 /dev/zero; echo LAST");
  const later = Promise.withResolvers<void>();
  const said: Buffer[] = [];
  const take = async (chunk: Buffer): Promise<void> => {
    said.push(chunk);
    await later.promise;
  };
  const timeIsUp = async (): Promise<void> => void setImmediate(later.resolve);
  const { code, notes } = await untilEnd(group, take, timeIsUp);
  expect(Buffer.concat(said).length).toBe(90_005);
  expect(String(said.at(-1))).toMatch(/LAST\n$/);
  expect({ code, notes }).toEqual({ code: 0, notes: [] });
});

it.each([
  ["is silent", "sleep 300", "LAST\n"],
  ["never ceases to talk", "yes", "LAST\ny\n"],
])("something else that holds the output and %s is not waited for, and a note says so", async (_name, holder, heard) => {
  const { group, folder } = await started(
    `setsid sh -c 'echo $$ > held; until [ -e last ]; do :; done; exec ${holder}' & until [ -s held ]; do :; done; echo LAST; : > last`,
  );
  const holds = Promise.withResolvers<void>();
  let said = "";
  let bytes = 0;
  const take = async (chunk: Buffer): Promise<void> => {
    bytes += chunk.length;
    if (said.length < 1_000) said += chunk.toString();
    if (said.includes(heard)) holds.resolve();
    // Slower than it talks: the next chunk lies always ready.
    await delay(1);
  };
  const timeIsUp = async (): Promise<void> => {
    await holds.promise;
    bytes = 0;
  };
  const { code, notes } = await untilEnd(group, take, timeIsUp);
  process.kill(Number(await readFile(join(folder, "held"), "utf8")), "SIGKILL");
  expect(said).toMatch(new RegExp(`^${heard}`));
  expect(bytes).toBeLessThan(17 * 1024 * 1024);
  expect({ code, notes }).toEqual({ code: 0, notes: [expect.stringMatching(HELD)] });
});

/** A command of bash that was started in a folder of its own. */
async function started(command: string): Promise<{ readonly group: ProcessGroup; readonly folder: string }> {
  const groups = new ProcessGroups();
  onTestFinished(() => groups.close());
  const folder = await temporaryFolder();
  const group = groups.start("bash", ["--norc", "-c", command], { folder, env: { PATH: process.env["PATH"] ?? "" } });
  group.process.stdin.end();
  return { group, folder };
}
