import {
  fieldOf,
  typedEntries,
  valuesOf,
  type FormField,
  type FormValues,
  type ToolQuestion,
} from "../../clients/src/input-form.ts";

type Asked = { readonly kind: string; readonly form: ToolQuestion | null };

/** An answer to a question: yes, no, the values of a tool's form, or the limit of a budget in US dollars. */
export type Said = boolean | FormValues | number;

/** The answer in a line; null if it is none. A yes to a form gives its defaults. */
export function saidIn({ kind, form }: Asked, line: string): Said | null {
  if (/^y(es)?$/i.test(line)) return form === null ? true : {};
  if (/^no?$/i.test(line)) return false;
  const usd = /^\$?(\d+(?:\.\d+)?)$/.exec(line)?.[1];
  if (kind === "BUDGET") return usd === undefined ? null : Number(usd);
  const entries = form === null ? null : typedEntries(form.fields, line);
  return form === null || entries === null ? null : valuesOf(form.fields, entries);
}

/** The ways to answer. */
export function waysOf({ kind, form }: Asked): string {
  if (kind === "BUDGET") return "y raises it, n ends the turn, 12.50 raises it to as many dollars";
  const [field] = form?.fields ?? [];
  return field === undefined ? "y/n" : `${field.name}=value; name=value, y for the defaults, n to decline`;
}

/** The form of a question as people read it; empty without one. */
export function formText({ form }: Pick<Asked, "form">): string {
  return form === null ? "" : [form.message, ...form.fields.map(fieldText)].join("\n");
}

/** The fields of the form that the server refuses; empty without any. */
export function wrongFieldsText({ form }: Pick<Asked, "form">, userErrors: readonly Parameters<typeof fieldOf>[0][]): string {
  const names = new Set(userErrors.map(fieldOf));
  return (form?.fields ?? [])
    .filter(({ name }) => names.has(name))
    .map(fieldText)
    .join("\n");
}

/** The form in the answer of the server; null for an approval of another kind. */
export function formOf(subject: object | null | undefined): ToolQuestion | null {
  return subject !== null && subject !== undefined && "fields" in subject ? (subject as ToolQuestion) : null;
}

function optionText({ value, title }: FormField["options"][number]): string {
  return title === null || title === value ? value : `${value} (${title})`;
}

function fieldText({ name, title, description, kind, isRequired, options, default: preset }: FormField): string {
  const kinds = options.length === 0 ? kind.toLowerCase() : options.map(optionText).join(", ");
  const about = [title === null || title === name ? null : title, description].filter((text) => text !== null).join(": ");
  const standing = preset === null ? "" : `, ${JSON.stringify(preset)} if left out`;
  return `  ${name}${isRequired ? " *" : ""}: ${kinds}${standing}${about === "" ? "" : `. ${about}`}`;
}
