import { readFile } from "node:fs/promises";
import { generatedFiles } from "../codegen.ts";

/** The committed files that are not what the source generates now. */
export async function generatedDrift(): Promise<string[]> {
  const stale: string[] = [];
  for (const { path, content } of await generatedFiles()) {
    if ((await readFile(path, "utf8").catch(() => null)) !== content) stale.push(path);
  }
  return stale;
}
