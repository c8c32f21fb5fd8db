import { isJsonObject } from "../../lib/json.ts";
import { counted } from "../../lib/text.ts";
import { headerProblem } from "./header-fields.ts";
import { readListedTool, type ListedTool } from "./listed-tool.ts";
import type { McpServer } from "./server.ts";
import type { McpSession } from "./session.ts";

/** The tools of a server that are taken, in the order of names, and notes for the operator about the others. */
export type ToolList = { readonly tools: readonly ListedTool[]; readonly notes: readonly string[] };

const MOST_PAGES = 64;

/** The most tools of a server. */
const MOST_TOOLS = 500;

/** The most characters of the definitions of a server's tools: they stay in memory, and each call compares their pins. */
const MOST_CHARACTERS = 8 * 1024 * 1024;

const MOST_NOTES = 20;

/** Reads a server's list of tools. Tools that are not usable are left out, each with a note. */
export async function readTools(
  { name, way, include, exclude }: McpServer,
  session: Pick<McpSession, "page">,
  timeoutMs: number,
): Promise<ToolList> {
  const notes: string[] = [];
  const found = new Map<string, ListedTool>();
  let cursor: string | null = null;
  let pages = 0;
  let characters = 0;
  do {
    const page = await session.page(cursor, timeoutMs);
    if (!Array.isArray(page["tools"])) throw new Error("its list of tools has an unknown form");
    for (const entry of page["tools"] as readonly unknown[]) {
      const ownName = isJsonObject(entry) && typeof entry["name"] === "string" ? entry["name"] : "";
      if (exclude.includes(ownName) || (include !== null && !include.includes(ownName))) continue;
      const tool = readListedTool(name, entry);
      const header = tool.ok && way.kind !== "stdio" ? headerProblem(tool.value.inputSchema) : null;
      if (!tool.ok) notes.push(`${tool.refusal}: it is left out`);
      else if (header !== null) notes.push(`${ownName}: its inputSchema ${header}: it is left out`);
      else if (found.has(tool.value.name)) notes.push(`two tools are named ${tool.value.name}: the first one is taken`);
      else if (found.size === MOST_TOOLS)
        return listOf(found, [...notes, `it has more than ${counted(MOST_TOOLS, "tool")}: the first are taken`]);
      else if (characters + tool.value.canonical.length > MOST_CHARACTERS)
        return listOf(found, [...notes, `its definitions have more than ${MOST_CHARACTERS} characters: the first are taken`]);
      else {
        found.set(tool.value.name, tool.value);
        characters += tool.value.canonical.length;
      }
    }
    const next: unknown = page["nextCursor"];
    cursor = typeof next === "string" && next !== "" ? next : null;
    pages += 1;
  } while (cursor !== null && pages < MOST_PAGES);
  return listOf(found, cursor === null ? notes : [...notes, `its list has no end: ${counted(MOST_PAGES, "page")} were read`]);
}

function listOf(found: ReadonlyMap<string, ListedTool>, notes: readonly string[]): ToolList {
  return {
    tools: [...found.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1)),
    notes: notes.slice(0, MOST_NOTES),
  };
}
