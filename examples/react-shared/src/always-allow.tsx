import { visible } from "@triplane/client/command-lines";
import { useEffect, useState, type ReactNode } from "react";
import type { Proposal } from "./asked.ts";

/** A rule is looked at when so many ms have passed since it was last changed. */
const PAUSE_MS = 250;

/** The rule that is proposed, shown with what it takes in and what not, and open to be changed before it is stored. */
export function AlwaysAllow({
  widest,
  propose,
  store,
}: {
  /** The calls or hosts that the widest rule takes in, in words. */
  readonly widest: string;
  /** The rule that the server proposes, or what the given one would mean. */
  readonly propose: (rule: string | null) => Promise<Proposal>;
  /** Stores the rule, and allows what is asked. */
  readonly store: (rule: string) => void;
}): ReactNode {
  const [rule, setRule] = useState<string | null>(null);
  const [shown, setShown] = useState<{ readonly rule: string; readonly proposal: Proposal } | null>(null);
  useEffect(() => {
    let isCurrent = true;
    const show = (proposal: Proposal): void => {
      if (!isCurrent) return;
      const shownRule = rule ?? proposal.proposal?.rule ?? "";
      setShown({ rule: shownRule, proposal });
      setRule(shownRule);
    };
    const failed = (failure: unknown): void => show({ proposal: null, problems: [{ message: String(failure) }] });
    const isSeen = rule !== null && shown?.rule === rule;
    const timer = setTimeout(() => void (isSeen ? null : propose(rule).then(show, failed)), rule === null ? 0 : PAUSE_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [rule]);
  const isShown = shown !== null && shown.rule === rule;
  const proposal = isShown ? shown.proposal.proposal : null;
  return (
    <form
      className="rule"
      aria-label="Always allow"
      onSubmit={(event) => {
        event.preventDefault();
        if (rule !== null && proposal !== null) store(rule);
      }}
    >
      <label>
        For all agents of the template, this runs without asking:
        <input aria-label="Rule" spellCheck={false} value={rule ?? ""} onChange={(event) => setRule(event.target.value)} />
      </label>
      {isShown ? shown.proposal.problems.map(({ message }) => <p key={message}>{message}</p>) : null}
      {proposal === null ? null : (
        <>
          {proposal.takesInAll ? <p role="alert">Careful: it takes in {widest}, also what is not shown here.</p> : null}
          <Examples name="It takes in" lines={proposal.matching} />
          <Examples name="It does not take in" lines={proposal.notMatching} />
          {proposal.past.examined === 0 ? null : <p>{pastText(proposal.past)}</p>}
        </>
      )}
      <button type="submit" disabled={proposal === null}>
        Store the rule, and allow
      </button>
    </form>
  );
}

function Examples({ name, lines }: { readonly name: string; readonly lines: readonly string[] }): ReactNode {
  if (lines.length === 0) return null;
  return (
    <>
      <p>{name}:</p>
      <ul aria-label={name}>
        {lines.map((line) => (
          <li key={line}>
            <code>{visible(line)}</code>
          </li>
        ))}
      </ul>
    </>
  );
}

function pastText({ examined, matched, asked, denied }: NonNullable<Proposal["proposal"]>["past"]): string {
  return `Of ${examined} in the last 30 days it takes in ${matched}: ${asked} were asked about, ${denied} of them denied.`;
}
