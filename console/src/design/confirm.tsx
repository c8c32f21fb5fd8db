import { Trans } from "@lingui/react/macro";
import { useState, type ReactNode } from "react";
import { Dialog } from "./dialog.tsx";

/** A button that asks once more before it acts. `act` returns the server's refusal, or null. */
export function Confirm({
  label,
  title,
  children,
  act,
}: {
  readonly label: string;
  readonly title: string;
  /** The effect, in words. */
  readonly children: ReactNode;
  readonly act: () => Promise<string | null>;
}): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const send = async (): Promise<void> => {
    setBusy(true);
    const refusal = await act().catch((failure: unknown) => (failure instanceof Error ? failure.message : String(failure)));
    setBusy(false);
    setProblem(refusal);
    if (refusal === null) setOpen(false);
  };
  return (
    <>
      <button type="button" className="danger" onClick={() => setOpen(true)}>
        {label}
      </button>
      <Dialog title={title} isOpen={isOpen} close={() => setOpen(false)}>
        <div>{children}</div>
        {problem === null ? null : (
          <p role="alert" className="alert">
            {problem}
          </p>
        )}
        <div className="row">
          <button type="button" className="danger" disabled={isBusy} onClick={() => void send()}>
            {label}
          </button>
          <button type="button" onClick={() => setOpen(false)}>
            <Trans>Cancel</Trans>
          </button>
        </div>
      </Dialog>
    </>
  );
}
