import { readFile } from "node:fs/promises";
import type { Script } from "../../src/agent/models/script.ts";

/** What a newcomer without a key talks with. */
export async function assistantScript(): Promise<Script> {
  return JSON.parse(await readFile(new URL("../../examples/scripts/assistant.json", import.meta.url), "utf8")) as Script;
}
