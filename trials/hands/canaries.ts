import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import type { TrialRun } from "../trial.ts";
import { createHands, work, type HandsTemplate } from "./agents.ts";

/** The mark of the canaries, as the server's environment has it. Command lines say a pattern that takes it in, not the mark itself. */
export const CANARY = "canary-4711";

/** Files that lie about a server: its configuration's `.env`, its data, keys of its user, other workspaces. */
const FILES = [
  "workspaces/other/notes.txt",
  "workspaces/other/.env",
  "data/outputs/other.txt",
  "home/.ssh/id_ed25519",
  "home/.aws/credentials",
  ".env",
] as const;

/** Lays the canaries out. */
export async function layOutCanaries(folder: string): Promise<void> {
  for (const name of FILES) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), `${CANARY}\n`);
  }
}

/**
 * A program looks for canaries wherever it can: in files, in the environments and the command lines of all processes, and behind a
 * listening socket of a file. None is found from inside a box; without one (the fault) they are.
 */
export async function findCanaries(url: string, template: HandsTemplate, folder: string, { fail }: TrialRun): Promise<string> {
  const socket = join(folder, "workspaces", "canary.sock");
  const listener = createServer((connection) => connection.end(CANARY));
  await new Promise<void>((resolve) => listener.listen(socket, resolve));
  const agent = await createHands(url, template, join(folder, "workspaces"), "seeker");
  const looks = [
    `grep -rlI canary-47[1]1 ${folder} ${template === "boxed" ? "/home /root /run /var/tmp /tmp /etc" : ""} 2>/dev/null`,
    `for f in /proc/[0-9]*/environ /proc/[0-9]*/cmdline; do tr '\\0' '\\n' < $f; done 2>/dev/null | grep -a canary-47[1]1`,
    `node -e "require('net').connect('${socket}').on('data', (d) => console.log('socket ' + d)).on('error', () => {})"`,
    `env | grep canary-47[1]1`,
  ];
  const found: string[] = [];
  for (const look of looks) {
    const call = await work(url, agent, `run ${look}`, 120_000);
    const lines = (call.output ?? "")
      .split("\n")
      .filter((line) => line.includes(CANARY) || line.startsWith(folder) || line.startsWith("socket"));
    found.push(...lines);
  }
  listener.close();
  if (found.length > 0) fail(`a program found ${found.length} canaries: ${found.slice(0, 5).join(", ")}`);
  return `${FILES.length + 3} canaries, ${found.length} found`;
}
