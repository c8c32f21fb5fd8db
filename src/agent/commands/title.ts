import { accepted, refused, type Result } from "../../lib/result.ts";
import { storable } from "../../lib/text.ts";
import type { CommandRefusal } from "../actors/refusal.ts";

/** The longest title of an agent, in characters. */
const TITLE_CHARACTERS = 200;

/** The title as it is stored: one trimmed line; null for none. */
export function readTitle(given: string | null): Result<string | null, CommandRefusal> {
  const title = given === null ? "" : storable(given).trim();
  if (title === "") return accepted(null);
  if (title.length <= TITLE_CHARACTERS && !/[\n\r]/.test(title)) return accepted(title);
  return refused({ code: "INVALID", field: ["title"], message: `a title is one line of at most ${TITLE_CHARACTERS} characters` });
}
