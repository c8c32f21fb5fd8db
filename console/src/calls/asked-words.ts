import type { InboxRowFragment } from "../generated/documents.ts";

/** The tool of a row; for questions without a call their kind. */
export function toolOf({ toolCall, kind }: InboxRowFragment): string {
  return toolCall?.name ?? kind.toLowerCase();
}

/** The object of a question in a few words: a host, a server's question, the scope of a budget, or the beginning of the input. */
export function previewOf({ toolCall, subject }: InboxRowFragment): string {
  if (subject !== null && "host" in subject) return `${subject.host}:${subject.port}`;
  if (subject !== null && "message" in subject) return subject.message;
  if (subject !== null && "per" in subject) return subject.per.toLowerCase();
  const preview = toolCall?.inputPreview ?? "";
  const [, first] = /^\{"(?:command|path)":"((?:[^"\\]|\\.)*)/.exec(preview) ?? [];
  return first ?? preview;
}
