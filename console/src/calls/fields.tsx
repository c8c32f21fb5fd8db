import { visible } from "@triplane/client/command-lines";
import type { FormEntries, FormField } from "@triplane/client/input-form";
import { useId, type ReactNode } from "react";
import { HiddenNote } from "./hidden-note.tsx";
import { LongField } from "./long-field.tsx";

/** A refusal that names a field stands at the field. */
export type FieldProblem = { readonly field: string | null; readonly message: string };

/** The fields of a flat form. */
export function Fields({
  fields,
  entries,
  problems,
  change,
}: {
  readonly fields: readonly FormField[];
  readonly entries: FormEntries;
  readonly problems: readonly FieldProblem[];
  readonly change: (entries: FormEntries) => void;
}): ReactNode {
  return fields.map((field) => (
    <Field
      key={field.name}
      field={field}
      entry={entries[field.name] ?? ""}
      problems={[...new Set(problems.filter((problem) => problem.field === field.name).map(({ message }) => message))]}
      change={(entry) => change({ ...entries, [field.name]: entry })}
    />
  ));
}

function Field({
  field,
  entry,
  problems,
  change,
}: {
  readonly field: FormField;
  readonly entry: FormEntries[string];
  readonly problems: readonly string[];
  readonly change: (entry: FormEntries[string]) => void;
}): ReactNode {
  const id = useId();
  const about = [
    ...(field.description === null ? [] : [`${id}-about`]),
    ...(problems.length === 0 ? [] : [`${id}-problem`]),
  ].join(" ");
  return (
    <div className="field">
      <label htmlFor={id}>
        {visible(field.title ?? field.name)}
        {field.isRequired ? <span aria-hidden> *</span> : null}
      </label>
      <Entry
        id={id}
        field={field}
        entry={entry}
        change={change}
        checks={{
          required: field.isRequired && field.kind !== "BOOLEAN",
          "aria-invalid": problems.length > 0,
          ...(about === "" ? {} : { "aria-describedby": about }),
        }}
      />
      {typeof entry === "string" ? <HiddenNote text={entry} /> : null}
      {field.description === null ? null : (
        <small id={`${id}-about`} className="quiet">
          {visible(field.description)}
        </small>
      )}
      {problems.length === 0 ? null : (
        <p id={`${id}-problem`} role="alert" className="alert">
          {visible(problems.join("; "))}
        </p>
      )}
    </div>
  );
}

type Checks = { readonly required: boolean; readonly "aria-invalid": boolean; readonly "aria-describedby"?: string };

function Entry({
  id,
  field,
  entry,
  change,
  checks,
}: {
  readonly id: string;
  readonly field: FormField;
  readonly entry: FormEntries[string];
  readonly change: (entry: FormEntries[string]) => void;
  readonly checks: Checks;
}): ReactNode {
  const options = field.options.map(({ value, title }) => (
    <option key={value} value={value}>
      {visible(title)}
    </option>
  ));
  switch (field.kind) {
    case "BOOLEAN":
      return (
        <input id={id} type="checkbox" checked={entry === true} onChange={({ target }) => change(target.checked)} {...checks} />
      );
    case "CHOICE":
      return (
        <select id={id} value={String(entry)} onChange={({ target }) => change(target.value)} {...checks}>
          <option value="">—</option>
          {options}
        </select>
      );
    case "CHOICES":
      return (
        <select
          id={id}
          multiple
          value={typeof entry === "object" ? [...entry] : []}
          onChange={({ target }) => change([...target.selectedOptions].map(({ value }) => value))}
          {...checks}
        >
          {options}
        </select>
      );
    case "TEXT":
      return field.format === null ? (
        <LongField id={id} text={String(entry)} rows={{ most: 16 }} change={change} {...checks} />
      ) : (
        <input
          id={id}
          type={TYPES[field.format]}
          value={String(entry)}
          onChange={({ target }) => change(target.value)}
          {...checks}
        />
      );
    case "INTEGER":
    case "NUMBER":
      return (
        <input
          id={id}
          type="number"
          step={field.kind === "NUMBER" ? "any" : 1}
          value={String(entry)}
          onChange={({ target }) => change(target.value)}
          {...checks}
        />
      );
  }
}

/** A time has its zone: the browser's own input for times has none. */
const TYPES = { EMAIL: "email", URI: "url", DATE: "date", DATE_TIME: "text" } as const;
