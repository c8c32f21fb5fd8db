import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder of this process: a data folder is one server's, and several are measured beside each other. It is removed at the end. */
export function ownFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "triplane-bench-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
