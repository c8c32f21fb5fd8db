import { Trans } from "@lingui/react/macro";
import { useId, type ReactNode } from "react";
import { WhyDisabled } from "../design/why-disabled.tsx";
import { isText, useDraft } from "../session/drafts.ts";
import type { DecideApprovalInput } from "../generated/documents.ts";

/** The longest result that the server takes, in characters. */
const RESULT_CHARACTERS = 16_000;

/** A person says the outcome of a call whose server stopped. The result is the model's only knowledge of it. */
export function OutcomeForm({
  about,
  isBusy,
  isRepeatable,
  answer,
}: {
  /** The question's id. */
  readonly about: string;
  readonly isBusy: boolean;
  readonly isRepeatable: boolean;
  readonly answer: (given: Pick<DecideApprovalInput, "decision" | "result">) => void;
}): ReactNode {
  const [result, setResult] = useDraft(about, "outcome", "", isText);
  const id = useId();
  const why = useId();
  const isEmpty = result.trim() === "";
  return (
    <form
      className="answer"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isEmpty) answer({ decision: "DONE", result });
      }}
    >
      <p className="note">
        {isRepeatable ? (
          <Trans>The tool may run again without harm.</Trans>
        ) : (
          <Trans>Look first whether it was done: a second run counts again.</Trans>
        )}
      </p>
      <div className="field">
        <label htmlFor={id}>
          <Trans>Its result, for the model</Trans>
        </label>
        <textarea
          id={id}
          rows={2}
          maxLength={RESULT_CHARACTERS}
          value={result}
          onChange={({ target }) => setResult(target.value)}
        />
      </div>
      <div className="row">
        <button type="submit" className="primary" disabled={isBusy || isEmpty} aria-describedby={isEmpty ? why : undefined}>
          <Trans>It was done</Trans> <kbd>Ctrl ⏎</kbd>
        </button>
        <button type="button" disabled={isBusy} onClick={() => answer({ decision: "RETRY" })}>
          <Trans>Run it again</Trans>
        </button>
        <button type="button" className="danger" disabled={isBusy} onClick={() => answer({ decision: "FAIL" })}>
          <Trans>It failed</Trans>
        </button>
      </div>
      <WhyDisabled of={[{ id: why, words: isEmpty ? <Trans>“It was done” needs a result.</Trans> : null }]} />
    </form>
  );
}
