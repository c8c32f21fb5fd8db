import {
  fieldOf,
  firstEntries,
  valuesOf,
  type FormEntries,
  type FormField,
  type FormValues,
  type ToolQuestion,
} from "@triplane/client/input-form";
import { useId, useState, type ReactNode } from "react";
import type { Refusals } from "./actions.ts";

/** The form of a tool's question. Errors of the server stand at their fields; others above the buttons. */
export function InputForm({
  question: { server, message, fields },
  give,
  decline,
}: {
  readonly question: ToolQuestion;
  /** Returns the errors; none if the values were taken. */
  readonly give: (values: FormValues) => Promise<Refusals>;
  readonly decline: () => void;
}): ReactNode {
  const [entries, setEntries] = useState<FormEntries>(() => firstEntries(fields));
  const [refusals, setRefusals] = useState<Refusals>([]);
  const [isSending, setSending] = useState(false);
  const send = (): void => {
    setSending(true);
    // Values that are taken close the form by their event.
    void give(valuesOf(fields, entries)).then((refused) => {
      setRefusals(refused);
      if (refused.length > 0) setSending(false);
    });
  };
  const known = new Set(fields.map(({ name }) => name));
  const others = refusals.filter((refusal) => !known.has(fieldOf(refusal) ?? ""));
  return (
    <form
      className="input"
      aria-label={`Input for ${server}`}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <p className="message">{message}</p>
      {fields.map((field) => (
        <Field
          key={field.name}
          field={field}
          entry={entries[field.name] ?? ""}
          problems={refusals.filter((refusal) => fieldOf(refusal) === field.name).map((refusal) => refusal.message)}
          change={(entry) => setEntries({ ...entries, [field.name]: entry })}
        />
      ))}
      {others.map((refusal) => (
        <p role="alert" key={refusal.message}>
          {refusal.message}
        </p>
      ))}
      <button type="submit" disabled={isSending}>
        {fields.length === 0 ? "Confirm" : "Send"}
      </button>
      <button type="button" disabled={isSending} onClick={decline}>
        Decline
      </button>
    </form>
  );
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
  const about = [field.description === null ? null : `${id}-about`, problems.length === 0 ? null : `${id}-problem`];
  const described = about.filter((each) => each !== null).join(" ");
  return (
    <div>
      <label htmlFor={id}>
        {field.title ?? field.name}
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
          ...(described === "" ? {} : { "aria-describedby": described }),
        }}
      />
      {field.description === null ? null : (
        <small id={`${id}-about`} className="about">
          {field.description}
        </small>
      )}
      {problems.length === 0 ? null : (
        <p id={`${id}-problem`} role="alert">
          {problems.join("; ")}
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
  switch (field.kind) {
    case "BOOLEAN":
      return (
        <input id={id} type="checkbox" checked={entry === true} onChange={({ target }) => change(target.checked)} {...checks} />
      );
    case "CHOICE":
      return (
        <select id={id} value={String(entry)} onChange={({ target }) => change(target.value)} {...checks}>
          <option value="">—</option>
          {field.options.map(({ value, title }) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
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
          {field.options.map(({ value, title }) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </select>
      );
    default:
      return (
        <input
          id={id}
          type={inputType(field)}
          value={String(entry)}
          onChange={({ target }) => change(target.value)}
          {...checks}
          {...(field.kind === "NUMBER" ? { step: "any" } : {})}
          {...(field.minimum === null ? {} : { min: field.minimum })}
          {...(field.maximum === null ? {} : { max: field.maximum })}
          {...(field.maxLength === null ? {} : { maxLength: field.maxLength })}
        />
      );
  }
}

/** A time has its zone: the browser's own input for times has none. */
function inputType({ kind, format }: FormField): string {
  if (kind === "NUMBER" || kind === "INTEGER") return "number";
  if (format === "EMAIL") return "email";
  if (format === "URI") return "url";
  return format === "DATE" ? "date" : "text";
}
