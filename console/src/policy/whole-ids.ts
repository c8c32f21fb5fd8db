import { FoundDocument, type FoundQuery } from "../generated/documents.ts";
import { ask } from "../session/ask.ts";

/** The ends of ids that people read and write. Longer texts are ids of the API. */
const END = /^#?[0-9a-f-]{4,36}$/i;

/** The id of the one agent whose id ends with the text. Other texts stay as they are: the server judges them. */
export async function agentOf(text: string): Promise<string> {
  return one(text, ({ agents }) => agents.map(({ id }) => id));
}

/** The id of the one call whose id ends with the text. */
export async function callOf(text: string): Promise<string> {
  return one(text, ({ toolCalls }) => toolCalls.map(({ callId }) => callId));
}

async function one(text: string, among: (found: FoundQuery["search"]) => readonly string[]): Promise<string> {
  if (!END.test(text)) return text;
  const [id, ...others] = among((await ask(FoundDocument, { text })).search);
  return id !== undefined && others.length === 0 ? id : text;
}
