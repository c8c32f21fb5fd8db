import { visible } from "@triplane/client/command-lines";
import { useEffect, useState, type ReactNode } from "react";
import { approvalEndText, type ApprovalKind, type ConversationItem } from "@triplane/client/conversation";
import type { FormValues } from "@triplane/client/input-form";
import type { Actions, Decision, Refusals } from "./actions.ts";
import { AlwaysAllow } from "./always-allow.tsx";
import type { Asked } from "./asked.ts";
import { BudgetFacts, budgetIn, RaiseBudget } from "./budget.tsx";
import { Change, CommandLines } from "./change.tsx";
import type { ApprovalDecision } from "./generated/documents.ts";
import { InputForm } from "./input-form.tsx";
import { Outcome } from "./outcome.tsx";

type ApprovalItem = Extract<ConversationItem, { readonly kind: "approval" }>;

/** The answers to a kind of question, and what the widest rule for it takes in; null if no rule can be stored. */
type Answers = {
  readonly choices: readonly { readonly decision: ApprovalDecision; readonly label: string }[];
  readonly widest: string | null;
};

const ANSWERS: Readonly<Record<ApprovalKind, Answers>> = {
  TOOL_CALL: {
    choices: [
      { decision: "ALLOW", label: "Allow" },
      { decision: "DENY", label: "Deny" },
    ],
    widest: "every call of this tool",
  },
  OUTCOME_UNKNOWN: {
    choices: [
      { decision: "DONE", label: "It was done" },
      { decision: "RETRY", label: "Run again" },
      { decision: "FAIL", label: "Give up" },
    ],
    widest: null,
  },
  BUDGET: { choices: [], widest: null },
  TOOL_INPUT: { choices: [], widest: null },
  NETWORK_HOST: {
    choices: [
      { decision: "ALLOW", label: "Allow for this agent" },
      { decision: "DENY", label: "Deny" },
    ],
    widest: "every host",
  },
};

/** The question of an approval, as far as it is known. */
type Look =
  | { readonly kind: "looking" }
  | { readonly kind: "seen"; readonly asked: Asked }
  | { readonly kind: "failed"; readonly problem: string };

/** A question to a person. It can be answered once what would change is shown. */
export function Approval({
  item: { request, inputText, end },
  askedBy = [],
  actions,
  canStoreRules,
}: {
  readonly item: ApprovalItem;
  /** The agents below this one that lead to the one that asks; empty if the agent of the conversation asks. */
  readonly askedBy?: readonly string[];
  readonly actions: Actions;
  readonly canStoreRules: boolean;
}): ReactNode {
  const { approvalId, kind, inputHash } = request;
  const isOpen = end === null;
  const [look, setLook] = useState<Look>({ kind: "looking" });
  const [tries, setTries] = useState(0);
  useEffect(() => {
    if (!isOpen) return;
    let isCurrent = true;
    const seen = (next: Look): void => void (isCurrent ? setLook(next) : null);
    actions.look(approvalId).then(
      (asked) => seen({ kind: "seen", asked }),
      (failure: unknown) => seen({ kind: "failed", problem: String(failure) }),
    );
    return () => {
      isCurrent = false;
    };
  }, [approvalId, isOpen, tries]);
  return (
    <section aria-label={askedBy.length === 0 ? "Approval" : `Approval for ${askedBy.join(", ")}`}>
      {askedBy.length === 0 ? null : <p className="path">{askedBy.join(" › ")}</p>}
      <p>
        <Question request={request} /> ({visible(request.reason ?? "why is no longer known")}, risk {request.risk})
      </p>
      {look.kind === "seen" ? <Shown asked={look.asked} /> : null}
      {inputText === "" || kind === "BUDGET" ? null : <pre tabIndex={0}>{inputText}</pre>}
      {end === null ? (
        <Answer
          look={look}
          kind={kind}
          canStoreRules={canStoreRules}
          question={request.question}
          give={(values) => actions.give(approvalId, values, inputHash)}
          decide={(said) => actions.decide(approvalId, said, inputHash)}
          propose={(rule) => actions.propose(approvalId, rule)}
          store={(rule) => actions.allowAlways(approvalId, rule, inputHash)}
          lookAgain={() => {
            setLook({ kind: "looking" });
            setTries(tries + 1);
          }}
        />
      ) : (
        <p>→ {visible(approvalEndText(end))}</p>
      )}
    </section>
  );
}

function Question({ request: { kind, call, host, port } }: Pick<ApprovalItem, "request">): ReactNode {
  switch (kind) {
    case "OUTCOME_UNKNOWN":
      return (
        <>
          What came of <code>{call?.name}</code>?
        </>
      );
    case "BUDGET":
      return <>May the budget be raised?</>;
    case "TOOL_INPUT":
      return (
        <>
          Which values does <code>{call?.name}</code> get?
        </>
      );
    case "NETWORK_HOST":
      return (
        <>
          May{" "}
          <code>
            {host}:{port}
          </code>{" "}
          be reached?
        </>
      );
    default:
      return (
        <>
          May <code>{call?.name}</code> run?
        </>
      );
  }
}

function Shown({ asked }: { readonly asked: Asked }): ReactNode {
  const budget = budgetIn(asked);
  const calls = asked.subject !== null && "toolCalls" in asked.subject ? asked.subject.toolCalls : [];
  return (
    <>
      {calls.length === 0 ? null : (
        <ul aria-label="Calls that would reach it">
          {calls.map(({ id, name, inputPreview }) => (
            <li key={id}>
              <code>{name}</code> {visible(inputPreview ?? "")}
            </li>
          ))}
        </ul>
      )}
      {budget === null ? null : <BudgetFacts asked={budget} />}
      <CommandLines asked={asked} />
      <Change preview={asked.preview} />
    </>
  );
}

function Answer({
  look,
  kind,
  question,
  give,
  canStoreRules,
  decide,
  propose,
  store,
  lookAgain,
}: {
  readonly look: Look;
  readonly kind: ApprovalKind;
  readonly question: ApprovalItem["request"]["question"];
  readonly give: (values: FormValues) => Promise<Refusals>;
  readonly canStoreRules: boolean;
  readonly decide: (decision: Decision) => void;
  readonly propose: Parameters<typeof AlwaysAllow>[0]["propose"];
  readonly store: (rule: string) => void;
  readonly lookAgain: () => void;
}): ReactNode {
  const [isRuling, setRuling] = useState(false);
  switch (look.kind) {
    case "looking":
      return <p>Looking what it would change …</p>;
    case "failed":
      return (
        <>
          <p>What it would change cannot be shown: {look.problem}</p>
          <button type="button" onClick={lookAgain}>
            Look again
          </button>
        </>
      );
    case "seen": {
      const reasons = look.asked.viewerCannotDecideReasons;
      if (reasons.length > 0) return <p>Somebody else decides: {reasons.join(", ")}</p>;
      const budget = budgetIn(look.asked);
      if (budget !== null) return <RaiseBudget asked={budget} decide={decide} />;
      if (question !== null) return <InputForm question={question} give={give} decline={() => decide({ decision: "DENY" })} />;
      const { choices, widest } = ANSWERS[kind];
      return (
        <>
          {choices.map(({ decision, label }) =>
            decision === "DONE" ? (
              <Outcome key={decision} label={label} done={(result) => decide({ decision, result })} />
            ) : (
              <button key={decision} type="button" onClick={() => decide({ decision })}>
                {label}
              </button>
            ),
          )}
          {widest !== null && canStoreRules && !isRuling ? (
            <button type="button" onClick={() => setRuling(true)}>
              Always …
            </button>
          ) : null}
          {widest !== null && isRuling ? <AlwaysAllow widest={widest} propose={propose} store={store} /> : null}
        </>
      );
    }
  }
}
