import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { BUILD_SCRIPT, consoleFolder } from "../../src/server/console/sources.ts";

let building: Promise<string> | null = null;

/** The folder of the console, which is built where servers look for it, unless it is there. */
export function builtConsole(): Promise<string> {
  building ??= build();
  return building;
}

async function build(): Promise<string> {
  await promisify(execFile)(process.execPath, [BUILD_SCRIPT]);
  return consoleFolder();
}
