import type { ConversationSubscription } from "./generated/conversation.ts";

type Event = ConversationSubscription["timeline"]["events"][number];
type Request = Extract<Event, { readonly __typename: "PermissionRequired" }>["request"];

/** The question of an approval of the kind TOOL_INPUT, with its flat form. */
export type ToolQuestion = NonNullable<Request["question"]>;
export type FormField = ToolQuestion["fields"][number];

/** The entries of a form as people edit them: texts of inputs, true for a checked box, and the chosen options. */
export type FormEntries = Readonly<Record<string, string | boolean | readonly string[]>>;

/** The values of a form, as `decideApproval` takes them. */
export type FormValues = Readonly<Record<string, string | number | boolean | readonly string[] | null>>;

/** The entries of an untouched form: its defaults. */
export function firstEntries(fields: readonly FormField[]): FormEntries {
  return Object.fromEntries(fields.map((field) => [field.name, firstEntry(field)]));
}

function firstEntry({ kind, default: preset }: FormField): FormEntries[string] {
  switch (kind) {
    case "BOOLEAN":
      return preset === true;
    case "CHOICES":
      return Array.isArray(preset) ? preset.filter((each: unknown) => typeof each === "string") : [];
    default:
      return typeof preset === "string" || typeof preset === "number" ? String(preset) : "";
  }
}

/** The values of the entries. An empty entry is null: it leaves an optional field empty. The server says what is wrong. */
export function valuesOf(fields: readonly FormField[], entries: FormEntries): FormValues {
  return Object.fromEntries(fields.map((field) => [field.name, valueOf(field, entries[field.name] ?? "")]));
}

function valueOf({ kind, isRequired }: FormField, entry: FormEntries[string]): FormValues[string] {
  if (typeof entry === "boolean") return entry;
  if (typeof entry !== "string") return entry.length === 0 && !isRequired ? null : entry;
  if (entry === "") return null;
  const isNumber = (kind === "NUMBER" || kind === "INTEGER") && entry.trim() !== "";
  return isNumber && Number.isFinite(Number(entry)) ? Number(entry) : entry;
}

/** Texts like `name=value; name=value`, for clients without forms; the names are those of fields. Null if it is none. */
export function typedEntries(fields: readonly FormField[], text: string): FormEntries | null {
  const entries: Record<string, FormEntries[string]> = { ...firstEntries(fields) };
  for (const part of text.split(";")) {
    const [, name = "", value = ""] = /^\s*([^=]+?)\s*=\s*(.*?)\s*$/.exec(part) ?? [];
    const field = fields.find((each) => each.name === name);
    if (field === undefined) return null;
    entries[name] = typedEntry(field, value);
  }
  return entries;
}

const YES = /^(y|yes|true|1)$/i;
const NO = /^(n|no|false|0)$/i;

function typedEntry({ kind }: FormField, value: string): FormEntries[string] {
  // Another word is left to the server, which says what is wrong with the field.
  if (kind === "BOOLEAN") return YES.test(value) || (NO.test(value) ? false : value);
  return kind === "CHOICES" ? value.split(",").flatMap((each) => (each.trim() === "" ? [] : [each.trim()])) : value;
}

/** The name of the field that an error of `decideApproval` is about; null if it is about none. */
export function fieldOf({ field }: { readonly field?: readonly string[] | null | undefined }): string | null {
  return field?.[0] === "values" ? (field[1] ?? null) : null;
}
