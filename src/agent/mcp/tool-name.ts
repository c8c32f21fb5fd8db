import { createHash } from "node:crypto";

/** The longest name of a tool that providers of models accept. */
const MOST_CHARACTERS = 64;

const DIGEST_CHARACTERS = 8;

/** The longest name of a server, in characters: a tool's name has room after it. */
export const MOST_SERVER_CHARACTERS = 32;

/**
 * The name of a server's tool for models and rules: `mcp__server__tool`. A name that they do not accept is shortened, and
 * ends with the beginning of its SHA-256. So it does not depend on the server's other tools.
 */
export function toolName(server: string, tool: string): string {
  const prefix = `mcp__${server}__`;
  if (/^[A-Za-z0-9_-]+$/.test(tool) && prefix.length + tool.length <= MOST_CHARACTERS) return prefix + tool;
  const digest = createHash("sha256").update(tool).digest("hex").slice(0, DIGEST_CHARACTERS);
  const room = MOST_CHARACTERS - prefix.length - DIGEST_CHARACTERS - 1;
  return `${prefix}${tool.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, room)}_${digest}`;
}
