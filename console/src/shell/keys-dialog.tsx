import { useLingui } from "@lingui/react/macro";
import type { ReactNode } from "react";
import { Dialog } from "../design/dialog.tsx";

/** All keys of the console. */
export function KeysDialog({ isOpen, close }: { readonly isOpen: boolean; readonly close: () => void }): ReactNode {
  const { t } = useLingui();
  const keys: readonly (readonly [string, string])[] = [
    ["j / k", t`next, previous`],
    ["⏎", t`allow once`],
    ["e", t`edit and allow, or into the form of the question`],
    ["d", t`deny with words`],
    ["a", t`always allow by a rule`],
    ["⇧ A / ⇧ D", t`allow or deny all of a batch`],
    ["o", t`open or close a batch`],
    ["/", t`search the list`],
    ["s / w", t`snooze, wake`],
    ["Ctrl ⏎", t`send the open form`],
    ["Esc", t`close the form`],
    ["g i / g a", t`to the inbox, to the agents`],
    ["g s", t`to your snoozed questions`],
    ["g u / g p / g o", t`to the audit, the policy, the operations`],
    ["?", t`these keys`],
  ];
  return (
    <Dialog title={t`Keys`} isOpen={isOpen} close={close}>
      <dl className="facts keys">
        {keys.map(([key, text]) => (
          <div key={key} className="key-line">
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <div className="row">
        <button type="button" onClick={close}>
          {t`Close`}
        </button>
      </div>
    </Dialog>
  );
}
