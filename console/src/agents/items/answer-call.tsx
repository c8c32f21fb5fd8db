import { Trans, useLingui } from "@lingui/react/macro";
import type { FormEntries } from "@triplane/client/input-form";
import { useEffect, useId, useMemo, useRef, useState, type ReactNode } from "react";
import { Fields, type FieldProblem } from "../../calls/fields.tsx";
import { entriesOf, valueFields, VALUE, valueOf } from "../../calls/flat-form.ts";
import { LongField } from "../../calls/long-field.tsx";
import { LongText } from "../../calls/long-text.tsx";
import { Until } from "../../design/clock.tsx";
import { formKeys } from "../../design/keys.ts";
import { readableJson } from "../../design/visible-lines.ts";
import { CompleteToolCallDocument, MayCompleteDocument, type CannotCompleteReason } from "../../generated/documents.ts";
import { isEntries, isText, useDraft, useDraftsOf } from "../../session/drafts.ts";
import { ask, change } from "../../session/ask.ts";
import { resultOfText, type Answer } from "./call-answer.ts";

type Given = { readonly callId: string; readonly name: string; readonly input: unknown; readonly dueAt: string | null };
type Terms = { readonly cannot: CannotCompleteReason | null; readonly outputSchema: unknown };
type Problems = readonly FieldProblem[];

/** The form that answers a call of a client tool. It is there while the call waits: its end, in any tab, removes it. */
export function AnswerCall(given: Given): ReactNode {
  const { t } = useLingui();
  const { callId, name, input, dueAt } = given;
  const { terms, problem } = useTerms(callId);
  const shown = useMemo(() => readableJson(input), [input]);
  return (
    <section className="answer-call" aria-label={t`Answer ${name}`}>
      <h2>
        <Trans>
          <code>{name}</code> waits for an answer
        </Trans>{" "}
        {dueAt === null ? null : (
          <span className="quiet small">
            · <Until time={dueAt} />
          </span>
        )}
      </h2>
      <LongText text={shown} label={t`Input`} />
      {problem === null ? null : (
        <p role="alert" className="alert">
          {problem}
        </p>
      )}
      {terms === null ? null : <AnswerForm callId={callId} terms={terms} />}
    </section>
  );
}

function AnswerForm({ callId, terms: { cannot, outputSchema } }: { readonly callId: string; readonly terms: Terms }): ReactNode {
  const { t } = useLingui();
  const id = useId();
  const fields = useMemo(() => valueFields(outputSchema), [outputSchema]);
  const empty = useMemo(() => (fields === null ? {} : (entriesOf(fields, {}) ?? {})), [fields]);
  const drafts = useDraftsOf(callId);
  const [entries, setEntries] = useDraft<FormEntries>(callId, "fields", empty, isEntries);
  const [text, setText] = useDraft(callId, "result", "", isText);
  const [words, setWords] = useState<string | null>(null);
  const { send, isBusy, problems } = useSending(callId, drafts.forget);
  const isDisabled = isBusy || cannot !== null;
  const known = new Set(words === null ? fields?.map((field) => field.name) : []);
  const result: Answer | { readonly broken: string } =
    fields === null ? resultOfText(text, outputSchema !== null) : { result: valueOf(outputSchema, fields, entries) };
  const broken = "broken" in result && text.trim() !== "" ? result.broken : null;
  const submit = (): void => {
    if (isDisabled) return;
    if (words !== null) send({ error: words });
    else if (!("broken" in result)) send(result);
  };
  return (
    <form
      className="answer"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      onKeyDown={formKeys(() => setWords(null), submit)}
    >
      {words !== null ? (
        <Text id={`${id}-words`} label={t`Error for the model`} rows={2} value={words} change={setWords} />
      ) : fields === null ? (
        <Text
          id={`${id}-result`}
          label={outputSchema === null ? t`Result (a text, or JSON)` : t`Result (JSON)`}
          rows={4}
          value={text}
          change={setText}
        />
      ) : (
        <Fields fields={fields} entries={entries} problems={problems} change={setEntries} />
      )}
      {[
        ...(words === null && broken !== null ? [broken] : []),
        ...problems.filter(({ field }) => field === null || !known.has(field)).map(({ message }) => message),
      ].map((message) => (
        <p key={message} role="alert" className="alert">
          {message}
        </p>
      ))}
      {cannot === null ? null : (
        <p className="note small">
          <Cannot reason={cannot} />
        </p>
      )}
      <div className="row">
        {words === null ? (
          <>
            <button type="submit" className="primary" disabled={isDisabled || "broken" in result}>
              <Trans>Send the result</Trans> <kbd>Ctrl ⏎</kbd>
            </button>
            <button type="button" className="plain" disabled={isDisabled} onClick={() => setWords("")}>
              <Trans>Fail with words …</Trans>
            </button>
          </>
        ) : (
          <>
            <button type="submit" className="danger" disabled={isDisabled || words.trim() === ""}>
              <Trans>Fail the call</Trans> <kbd>Ctrl ⏎</kbd>
            </button>
            <button type="button" className="plain" onClick={() => setWords(null)}>
              <Trans>Back</Trans> <kbd>Esc</kbd>
            </button>
          </>
        )}
      </div>
    </form>
  );
}

function Text({
  id,
  label,
  rows,
  value,
  change: say,
}: {
  readonly id: string;
  readonly label: string;
  readonly rows: number;
  readonly value: string;
  readonly change: (value: string) => void;
}): ReactNode {
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <LongField id={id} text={value} rows={{ exactly: rows }} change={say} />
    </div>
  );
}

function Cannot({ reason }: { readonly reason: CannotCompleteReason }): ReactNode {
  switch (reason) {
    case "NO_RIGHT":
      return <Trans>You may not answer: the person who asked for the call, or an administrator, answers.</Trans>;
    case "NOT_WAITING":
      return <Trans>The call does not wait any more.</Trans>;
    case "WAITS_FOR_CHILD":
      return <Trans>The agent that the call started answers.</Trans>;
    case "WAITS_FOR_TASK":
      return <Trans>The task of its MCP server answers.</Trans>;
  }
}

/** Who may answer, and the form of the result. */
function useTerms(callId: string): { readonly terms: Terms | null; readonly problem: string | null } {
  const [terms, setTerms] = useState<Terms | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    let isCurrent = true;
    ask(MayCompleteDocument, { callId }).then(
      ({ toolCall }) =>
        isCurrent && toolCall !== null
          ? setTerms({ cannot: toolCall.viewerCannotCompleteReason, outputSchema: toolCall.tool?.outputSchema ?? null })
          : null,
      (failure: unknown) => (isCurrent ? setProblem(failure instanceof Error ? failure.message : String(failure)) : null),
    );
    return () => {
      isCurrent = false;
    };
  }, [callId]);
  return { terms, problem };
}

/** Sends answers. One that is repeated after a lost response keeps its key: the server takes it once. */
function useSending(
  callId: string,
  taken: () => void,
): {
  readonly send: (answer: Answer) => void;
  readonly isBusy: boolean;
  readonly problems: Problems;
} {
  const [isBusy, setBusy] = useState(false);
  const [problems, setProblems] = useState<Problems>([]);
  const lost = useRef({ body: "", key: "" });
  const send = (answer: Answer): void => {
    const body = JSON.stringify(answer);
    const idempotencyKey = lost.current.body === body ? lost.current.key : crypto.randomUUID();
    lost.current = { body, key: idempotencyKey };
    setBusy(true);
    change(CompleteToolCallDocument, { input: { callId, idempotencyKey, ...answer } }).then(
      ({ completeToolCall: { userErrors } }) => {
        if (userErrors.length === 0) taken();
        setProblems(userErrors.map(({ field, message }) => ({ field: fieldOf(field), message })));
        setBusy(false);
      },
      (failure: unknown) => {
        setProblems([{ field: null, message: failure instanceof Error ? failure.message : String(failure) }]);
        setBusy(false);
      },
    );
  };
  return { send, isBusy, problems };
}

/** The field of the form that an error is about; VALUE for the result as a whole. */
function fieldOf(field: readonly string[] | null): string | null {
  return field?.[0] === "result" ? (field[1] ?? VALUE) : null;
}
