/** The names of the marks around texts that are given to a model as data. */
const NAMES = [
  "system-reminder",
  "conversation-summary",
  "message",
  "agent-state",
  "conversation",
  "earlier-summary",
  "person",
  "agent",
  "call",
  "result",
  "note",
].join("|");

const MARK = new RegExp(`<(?=\\s*/?\\s*(?:${NAMES}))`, "gi");

/** A text that can end none of the marks around it, nor begin others. */
export function unmarked(text: string): string {
  return text.replaceAll(MARK, "&lt;");
}

/** A text between marks of this name. */
export function inMarks(name: string, text: string, attributes = ""): string {
  return `<${name}${attributes}>\n${unmarked(text)}\n</${name}>`;
}
