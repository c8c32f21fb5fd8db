import { Trans } from "@lingui/react/macro";
import { visible } from "@triplane/client/command-lines";
import { fieldOf, firstEntries, valuesOf, type FormEntries, type FormValues } from "@triplane/client/input-form";
import type { ReactNode } from "react";
import { isEntries, useDraft } from "../session/drafts.ts";
import { Fields } from "../calls/fields.tsx";
import type { InputAsked } from "./asked.ts";
import { useRefusal, type Deciding } from "./decisions.ts";

/** The form of a tool's question. Refusals of the server stand at their fields. */
export function ValuesForm({
  about,
  question: { fields },
  isBusy,
  problems,
  give,
  decline,
}: {
  /** The question's id. */
  readonly about: string;
  readonly question: InputAsked;
  readonly isBusy: boolean;
  readonly problems: Extract<Deciding, { readonly kind: "refused" }>["problems"];
  readonly give: (values: FormValues) => void;
  readonly decline: () => void;
}): ReactNode {
  const [entries, setEntries] = useDraft<FormEntries>(about, "values", firstEntries(fields), isEntries);
  const known = new Set(fields.map(({ name }) => name));
  const { shown, changed } = useRefusal(problems);
  const placed = shown.map((problem) => ({ field: fieldOf(problem), message: problem.message }));
  return (
    <form
      className="answer"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        give(valuesOf(fields, entries));
      }}
    >
      <Fields fields={fields} entries={entries} problems={placed} change={changed(setEntries)} />
      {placed
        .filter(({ field }) => field === null || !known.has(field))
        .map(({ message }) => (
          <p key={message} role="alert" className="alert">
            {visible(message)}
          </p>
        ))}
      <div className="row">
        <button type="submit" className="primary" disabled={isBusy}>
          {fields.length === 0 ? <Trans>Confirm</Trans> : <Trans>Send the values</Trans>} <kbd>Ctrl ⏎</kbd>
        </button>
        <button type="button" className="danger" disabled={isBusy} onClick={decline}>
          <Trans>Decline</Trans>
        </button>
      </div>
    </form>
  );
}
