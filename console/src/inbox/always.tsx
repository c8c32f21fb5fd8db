import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { visible } from "@triplane/client/command-lines";
import { useEffect, useId, useState, type ReactNode } from "react";
import { HiddenNote } from "../calls/hidden-note.tsx";
import { ignoredParameters } from "../calls/rule-parameters.ts";
import { formKeys } from "../design/keys.ts";
import { AllowAlwaysDocument, ProposalDocument } from "../generated/documents.ts";
import { ask, change, refusalText } from "../session/ask.ts";
import type { Asked } from "./asked.ts";
import type { Proposal } from "./why.tsx";

/** A rule is looked at when so many ms have passed since it was last changed. */
const PAUSE_MS = 250;
/** A rule may end by itself after one of these numbers of days. */
const DAYS = [1, 7, 30, 90, 365] as const;

/** The proposed rule with its effect, open to changes before it is stored. */
export function AlwaysAllow({
  asked,
  proposed,
  allow,
  back,
}: {
  readonly asked: Asked;
  /** The server's proposal, if the page has it already. */
  readonly proposed: Proposal | null;
  readonly allow: () => Promise<boolean>;
  readonly back: () => void;
}): ReactNode {
  const { t } = useLingui();
  const [rule, setRule] = useState<string | null>(proposed?.proposal?.rule ?? null);
  const [days, setDays] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const [isStoring, setStoring] = useState(false);
  const shown = useEffectOf(asked.id, proposed, rule, setRule);
  const id = useId();
  const proposal = shown?.rule === rule ? (shown?.effect.proposal ?? null) : null;
  const problems = shown?.rule === rule ? (shown?.effect.problems ?? []) : [];
  const store = async (): Promise<void> => {
    if (rule === null || proposal === null || isStoring) return;
    setStoring(true);
    const refusal = await change(AllowAlwaysDocument, {
      input: { approvalId: asked.id, rule, ...(days === "" ? {} : { expiresInDays: Number(days) }) },
    }).then(
      ({ allowAlways }) => refusalText(allowAlways.userErrors),
      (failure: unknown) => (failure instanceof Error ? failure.message : String(failure)),
    );
    setProblem(refusal);
    if (refusal === null) await allow();
    setStoring(false);
  };
  return (
    <form
      className="answer"
      aria-label={t`Always allow`}
      onSubmit={(event) => {
        event.preventDefault();
        void store();
      }}
      onKeyDown={formKeys(back, () => void store())}
    >
      <div className="field">
        <label htmlFor={id}>
          <Trans>Rule</Trans>
        </label>
        <input
          id={id}
          className="code"
          autoFocus
          spellCheck={false}
          autoComplete="off"
          value={rule ?? ""}
          onChange={({ target }) => setRule(target.value)}
        />
        <HiddenNote text={rule ?? ""} />
        <small className="quiet">
          <Trans>
            It holds for all agents of <code>{asked.agent.template.templateId}</code>.
          </Trans>
        </small>
      </div>
      <div className="field">
        <label htmlFor={`${id}-end`}>
          <Trans>Its end</Trans>
        </label>
        <select id={`${id}-end`} value={days} onChange={({ target }) => setDays(target.value)}>
          <option value="">{t`when somebody revokes it`}</option>
          {DAYS.map((count) => (
            <option key={count} value={count}>
              <Plural value={count} one="after # day" other="after # days" />
            </option>
          ))}
        </select>
      </div>
      <div aria-live="polite">
        {problems.map(({ message }) => (
          <p key={message} className="alert">
            {visible(message)}
          </p>
        ))}
        {proposal === null ? null : <RuleEffect proposal={proposal} isHost={asked.kind === "NETWORK_HOST"} input={asked.input} />}
      </div>
      {problem === null ? null : (
        <p role="alert" className="alert">
          {problem}
        </p>
      )}
      <div className="row">
        <button type="submit" className="primary" disabled={proposal === null || isStoring}>
          <Trans>Store the rule, and allow</Trans> <kbd>Ctrl ⏎</kbd>
        </button>
        <button type="button" className="plain" onClick={back}>
          <Trans>Back</Trans> <kbd>Esc</kbd>
        </button>
      </div>
    </form>
  );
}

function RuleEffect({
  proposal: { rule, matching, notMatching, takesInAll, past },
  isHost,
  input,
}: {
  readonly proposal: NonNullable<Proposal["proposal"]>;
  readonly isHost: boolean;
  readonly input: unknown;
}): ReactNode {
  const { examined, matched, denied } = past;
  const ignored = isHost ? [] : ignoredParameters(rule, input);
  const names = ignored.map(visible).join(", ");
  return (
    <>
      {takesInAll ? (
        <p role="alert" className="note warning">
          {isHost ? (
            <Trans>Careful: it takes in every host.</Trans>
          ) : (
            <Trans>Careful: it takes in every call of this tool.</Trans>
          )}
        </p>
      ) : null}
      {names === "" ? null : (
        <p className="note small">
          <Trans>
            It does not look at: <code>{names}</code>
          </Trans>
        </p>
      )}
      <div className="examples">
        <Examples title={<Trans>It takes in</Trans>} lines={matching} />
        <Examples title={<Trans>It does not take in</Trans>} lines={notMatching} />
      </div>
      <p className="small">
        <Trans>
          In the last 30 days:{" "}
          <Plural value={matched} one="# call would have run unasked" other="# calls would have run unasked" />,{" "}
          <Plural value={denied} one="# of them was denied by a person" other="# of them were denied by people" />. Looked at:{" "}
          {examined}.
        </Trans>
      </p>
    </>
  );
}

function Examples({ title, lines }: { readonly title: ReactNode; readonly lines: readonly string[] }): ReactNode {
  if (lines.length === 0) return null;
  return (
    <div>
      <h4 className="small">{title}</h4>
      <ul className="lines">
        {lines.map((line) => (
          <li key={line}>
            <code>{visible(line)}</code>
          </li>
        ))}
      </ul>
    </div>
  );
}

type Effect = { readonly rule: string; readonly effect: Proposal };

/** The effect of a rule on recent calls. Without a rule the server's proposal is taken. */
function useEffectOf(
  approvalId: string,
  proposed: Proposal | null,
  rule: string | null,
  setRule: (rule: string) => void,
): Effect | null {
  const [shown, setShown] = useState<Effect | null>(proposed === null || rule === null ? null : { rule, effect: proposed });
  useEffect(() => {
    if (rule !== null && shown?.rule === rule) return;
    let isCurrent = true;
    const show = (effect: Proposal): void => {
      if (!isCurrent) return;
      const shownRule = rule ?? effect.proposal?.rule ?? "";
      setShown({ rule: shownRule, effect });
      setRule(shownRule);
    };
    const timer = setTimeout(
      () =>
        void ask(ProposalDocument, { approvalId, rule }).then(
          ({ allowRuleProposal }) => show(allowRuleProposal),
          (failure: unknown) =>
            show({
              proposal: null,
              problems: [{ code: "UNAVAILABLE", message: failure instanceof Error ? failure.message : String(failure) }],
            }),
        ),
      rule === null ? 0 : PAUSE_MS,
    );
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [approvalId, rule]);
  return shown;
}
