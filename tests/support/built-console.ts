import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { inject } from "vitest";

let building: Promise<string> | null = null;

/** The folder of the console, built as servers build it, once for all tests. */
export function builtConsole(): Promise<string> {
  building ??= build();
  return building;
}

async function build(): Promise<string> {
  const folder = join(inject("runFolder"), "console");
  const script = fileURLToPath(new URL("../../scripts/console.ts", import.meta.url));
  await promisify(execFile)(process.execPath, [script, folder]);
  return folder;
}
