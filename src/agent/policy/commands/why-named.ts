import { isSecretPath } from "../../workspace/secret-files.ts";
import { located, type Place } from "./operand-files.ts";
import type { ShellWord } from "./shell-word.ts";

/** Why `*` does not stand for a word that the table does not know; null if it does. */
export function whyNamed({ text, open, assigns }: ShellWord, place: Place): string | null {
  // A wildcard behind plain letters becomes names, and never an option.
  if (open === "a wildcard" && /^[A-Za-z0-9_][\w./*?[\]-]*$/.test(text) && !text.split("/").includes("..")) return null;
  if (open !== null) return `it has ${open}`;
  if (text === "--" || text === "-") return null;
  // Editors and pagers run what stands behind a plus.
  if (/^[-+]/.test(text)) return "an option that is not known to be harmless";
  if (assigns) return "an assignment";
  if (isSecretPath(text)) return "it mostly holds secrets";
  const looksOutside = text.startsWith("/") || text.split("/").includes("..");
  const found = looksOutside ? located(place, text) : null;
  return found?.kind === "trouble" ? found.reason : null;
}
