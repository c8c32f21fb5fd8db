import { Trans, useLingui } from "@lingui/react/macro";
import { useState, type ReactNode } from "react";
import { Until, useNow } from "../../design/clock.tsx";
import { Dialog } from "../../design/dialog.tsx";
import { useKeys } from "../../design/keys.ts";
import { presentMs } from "../../design/present.ts";
import { zonedText } from "../../design/time.ts";
import { useMay } from "../../session/viewer.tsx";
import { isPresent, SNOOZE_CHOICES, snoozeEnd, type Snooze, type SnoozeChoice } from "./snooze-times.ts";
import { snooze, wake } from "./put-off.ts";
import "./snooze.css";

/** Puts a question off for the viewer alone, or ends that. The approval stays open for all people. */
export function SnoozeLine({
  approvalId,
  expiresAt,
  snooze: present,
  snoozed,
}: {
  readonly approvalId: string;
  readonly expiresAt: string | null;
  readonly snooze: Snooze | null;
  /** The server has put it off. */
  readonly snoozed: () => void;
}): ReactNode {
  const { i18n } = useLingui();
  const may = useMay("DECIDE");
  const now = useNow();
  const [isOpen, setOpen] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const isPutOff = isPresent(present ?? undefined, now);
  const act = async (work: () => Promise<string | null>): Promise<boolean> => {
    if (isBusy) return false;
    setBusy(true);
    const refusal = await work().catch((failure: unknown) => (failure instanceof Error ? failure.message : String(failure)));
    setBusy(false);
    setProblem(refusal);
    return refusal === null;
  };
  const putOff = async (until: Date): Promise<void> => {
    setOpen(false);
    if (await act(() => snooze(approvalId, until))) snoozed();
  };
  const wakeIt = (): void => void act(() => wake(approvalId));
  useKeys({
    s: () => (may.isAllowed && !isBusy ? setOpen(true) : null),
    w: () => (may.isAllowed && isPutOff ? wakeIt() : null),
  });
  if (!may.isAllowed) return null;
  return (
    <div className="snooze-line row small" aria-busy={isBusy}>
      {!isPutOff ? null : (
        <>
          <span className="badge">
            {present === null || present.until === null ? (
              <Trans>put off until it changes</Trans>
            ) : (
              <span title={zonedText(present.until, i18n.locale)}>
                <Trans>
                  put off, returns <Until time={present.until} />
                </Trans>
              </span>
            )}
          </span>
          <button type="button" disabled={isBusy} onClick={wakeIt}>
            <Trans>Wake</Trans> <kbd>w</kbd>
          </button>
        </>
      )}
      <button type="button" className="plain" disabled={isBusy} onClick={() => setOpen(true)}>
        <Trans>Snooze …</Trans> <kbd>s</kbd>
      </button>
      {problem === null ? null : (
        <span role="alert" className="alert">
          {problem}
        </span>
      )}
      <SnoozeDialog isOpen={isOpen} expiresAt={expiresAt} close={() => setOpen(false)} choose={(until) => void putOff(until)} />
    </div>
  );
}

function SnoozeDialog({
  isOpen,
  expiresAt,
  close,
  choose,
}: {
  readonly isOpen: boolean;
  readonly expiresAt: string | null;
  readonly close: () => void;
  readonly choose: (until: Date) => void;
}): ReactNode {
  const { t } = useLingui();
  return (
    <Dialog title={t`Snooze until`} isOpen={isOpen} close={close}>
      <p className="small quiet">
        <Trans>For you alone. It stays open for others, and it expires as before.</Trans>
      </p>
      <SnoozeChoices expiresAt={expiresAt} choose={choose} />
      <div className="row">
        <button type="button" className="plain" onClick={close}>
          <Trans>Cancel</Trans> <kbd>Esc</kbd>
        </button>
      </div>
    </Dialog>
  );
}

/** The choices, each with its key and its time in the zone of the page. */
function SnoozeChoices({
  expiresAt,
  choose,
}: {
  readonly expiresAt: string | null;
  readonly choose: (until: Date) => void;
}): ReactNode {
  const { t, i18n } = useLingui();
  const [now] = useState(() => new Date(presentMs()));
  const words: Readonly<Record<SnoozeChoice, string>> = { hour: t`One hour`, morning: t`Next morning`, week: t`Next week` };
  const format = new Intl.DateTimeFormat(i18n.locale, {
    weekday: "short",
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    timeZoneName: "short",
  });
  const choices = SNOOZE_CHOICES.map((choice) => ({ choice, end: snoozeEnd(choice, now) }));
  return (
    <ol
      className="snooze-choices"
      onKeyDown={({ key, repeat }) => {
        const chosen = repeat ? undefined : choices[Number(key) - 1];
        if (chosen !== undefined) choose(chosen.end);
      }}
    >
      {choices.map(({ choice, end }, index) => (
        <li key={choice}>
          <button type="button" onClick={() => choose(end)}>
            <kbd>{index + 1}</kbd> <span className="choice">{words[choice]}</span>{" "}
            <time className="small quiet" dateTime={end.toISOString()}>
              {format.format(end)}
            </time>
            {expiresAt === null || Date.parse(expiresAt) > end.getTime() ? null : (
              <span className="badge waits">
                <Trans>expires before</Trans>
              </span>
            )}
          </button>
        </li>
      ))}
    </ol>
  );
}
