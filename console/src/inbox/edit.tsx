import { Trans, useLingui } from "@lingui/react/macro";
import { visible } from "@triplane/client/command-lines";
import type { FormEntries } from "@triplane/client/input-form";
import { useEffect, useId, useMemo, useRef, useState, type ReactNode } from "react";
import { Fields } from "../calls/fields.tsx";
import { entriesOf, flatFields, inputOf } from "../calls/flat-form.ts";
import { LongField } from "../calls/long-field.tsx";
import { formKeys } from "../design/keys.ts";
import { ServerWords } from "../design/server-words.tsx";
import { CheckDocument, type CheckQuery } from "../generated/documents.ts";
import { ask } from "../session/ask.ts";
import { isEntries, isText, useDraft } from "../session/drafts.ts";
import type { Asked } from "./asked.ts";
import { useRefusal, type Deciding } from "./decisions.ts";

/** The server is asked about an input when so many ms have passed since it was last changed. */
const PAUSE_MS = 350;

type Problems = Extract<Deciding, { readonly kind: "refused" }>["problems"];
type Read = { readonly kind: "input"; readonly input: unknown } | { readonly kind: "broken"; readonly problem: string };

/** Another input for the call. It is checked by the server while it is written. */
export function EditInput({
  asked,
  isBusy,
  problems,
  allow,
  back,
}: {
  readonly asked: Asked;
  readonly isBusy: boolean;
  readonly problems: Problems;
  readonly allow: (input: unknown) => void;
  readonly back: () => void;
}): ReactNode {
  const { t } = useLingui();
  const fields = useMemo(() => flatFields(asked.toolCall?.tool?.inputSchema ?? null), [asked]);
  const start = useMemo(() => (fields === null ? null : entriesOf(fields, asked.input)), [fields, asked]);
  // The server's text is JSON of the same value, with hidden characters as escapes.
  const whole = useMemo(() => asked.inputText ?? JSON.stringify(asked.input, null, 2), [asked]);
  const [entries, setEntries] = useDraft<FormEntries>(asked.id, "edit", start ?? {}, isEntries);
  const [text, setText] = useDraft(asked.id, "edit", whole, isText);
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector<HTMLElement>("input, textarea, select")?.focus(), []);
  const read: Read =
    fields !== null && start !== null ? { kind: "input", input: inputOf(fields, entries, asked.input) } : parsed(text);
  const check = useCheck(asked, read);
  // A refusal of the decision has the same errors as the dry run.
  const { shown, changed } = useRefusal(problems);
  const placed = [...(check?.problems ?? []), ...shown].map(({ field, message }) => ({ field: inputFieldOf(field), message }));
  const known = new Set(fields?.map(({ name }) => name));
  const others = placed
    .filter(({ field }) => start === null || field === null || !known.has(field))
    .map(({ message }) => message);
  const send = (): void => (read.kind === "input" && !isBusy ? allow(read.input) : undefined);
  return (
    <form
      ref={form}
      className="answer"
      aria-label={t`Edit the input`}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onKeyDown={formKeys(back, send)}
    >
      {fields !== null && start !== null ? (
        <Fields fields={fields} entries={entries} problems={placed} change={changed(setEntries)} />
      ) : (
        <div className="field">
          <label htmlFor={id}>
            <Trans>Input (JSON)</Trans>
          </label>
          <LongField id={id} text={text} rows={{ exactly: 12 }} change={changed(setText)} />
        </div>
      )}
      {read.kind === "broken" ? (
        <p role="alert" className="alert">
          {read.problem}
        </p>
      ) : null}
      {[...new Set(others)].map((message) => (
        <p key={message} role="alert" className="alert">
          <ServerWords text={message} />
        </p>
      ))}
      <Checked check={check} />
      <div className="row">
        <button type="submit" className="primary" disabled={isBusy || read.kind === "broken"}>
          <Trans>Allow this input</Trans> <kbd>Ctrl ⏎</kbd>
        </button>
        <button type="button" className="plain" onClick={back}>
          <Trans>Back</Trans> <kbd>Esc</kbd>
        </button>
      </div>
    </form>
  );
}

type Check = CheckQuery["checkApprovalInput"];

/** The field of a tool's input that an error is about; null for the input as a whole. */
function inputFieldOf(field: readonly string[] | null): string | null {
  return field?.[0] === "input" ? (field[1] ?? null) : null;
}

function Checked({ check }: { readonly check: Check | null }): ReactNode {
  if (check === null) return null;
  const { asksAnother, explanation } = check;
  return (
    <div role="status">
      {asksAnother ? (
        <p className="note small">
          <Trans>You may not allow your own input: another person is asked about it.</Trans>
        </p>
      ) : null}
      {explanation?.verdict === "ALLOW" ? (
        <p className="note small">
          <Trans>
            This input would run without a question: <code>{visible(explanation.rule)}</code>
          </Trans>
        </p>
      ) : null}
    </div>
  );
}

/** The server's dry run of an input as it is written; null before the first answer. */
function useCheck({ id }: Asked, read: Read): Check | null {
  const [check, setCheck] = useState<Check | null>(null);
  const text = read.kind === "input" ? JSON.stringify(read.input) : null;
  useEffect(() => {
    if (text === null) return setCheck(null);
    let isCurrent = true;
    const timer = setTimeout(() => {
      const input: unknown = JSON.parse(text);
      ask(CheckDocument, { approvalId: id, input }).then(
        ({ checkApprovalInput }) => (isCurrent ? setCheck(checkApprovalInput) : null),
        // The decision itself is checked again.
        () => null,
      );
    }, PAUSE_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [id, text]);
  return check;
}

function parsed(text: string): Read {
  try {
    return { kind: "input", input: JSON.parse(text) as unknown };
  } catch (error) {
    return { kind: "broken", problem: error instanceof Error ? error.message : String(error) };
  }
}
