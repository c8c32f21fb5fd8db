import { Trans } from "@lingui/react/macro";
import { useId, type ReactNode } from "react";
import { formKeys } from "../design/keys.ts";
import { isText, useDraft } from "../session/drafts.ts";

/** The denial, with words that the model reads. */
export function DenyWithWords({
  about,
  isBusy,
  deny,
  back,
}: {
  /** The question's id. */
  readonly about: string;
  readonly isBusy: boolean;
  readonly deny: (note: string | null) => void;
  readonly back: () => void;
}): ReactNode {
  const [note, setNote] = useDraft(about, "deny", "", isText);
  const id = useId();
  const send = (): void => deny(note.trim() === "" ? null : note);
  return (
    <form
      className="answer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onKeyDown={formKeys(back, send)}
    >
      <div className="field">
        <label htmlFor={id}>
          <Trans>Words for the model (may be empty)</Trans>
        </label>
        <textarea id={id} rows={2} autoFocus value={note} onChange={({ target }) => setNote(target.value)} />
      </div>
      <div className="row">
        <button type="submit" className="danger" disabled={isBusy}>
          <Trans>Deny</Trans> <kbd>Ctrl ⏎</kbd>
        </button>
        <button type="button" className="plain" onClick={back}>
          <Trans>Back</Trans> <kbd>Esc</kbd>
        </button>
      </div>
    </form>
  );
}
