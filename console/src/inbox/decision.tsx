import { Trans, useLingui } from "@lingui/react/macro";
import { useId, useState, type ReactNode } from "react";
import { firstClick } from "../design/clicks.ts";
import { useFocusKept } from "../design/focus-kept.ts";
import { useKeys } from "../design/keys.ts";
import { ServerWords } from "../design/server-words.tsx";
import { WhyDisabled } from "../design/why-disabled.tsx";
import type { CannotDecideReason } from "../generated/documents.ts";
import { useDraftsOf } from "../session/drafts.ts";
import { useMay, useViewer } from "../session/viewer.tsx";
import { AlwaysAllow } from "./always.tsx";
import { budgetIn, inputIn, type Asked } from "./asked.ts";
import { RaiseBudget } from "./budget.tsx";
import { decide, type DecideApprovalInput, type Deciding } from "./decisions.ts";
import { DenyWithWords } from "./deny.tsx";
import { EditInput } from "./edit.tsx";
import { OutcomeForm } from "./outcome.tsx";
import { ValuesForm } from "./values.tsx";
import type { Proposal } from "./why.tsx";

/** The question must be in view for this time before it is answered: keys and clicks that were meant for the one before do nothing. */
const SEEN_MS = 400;

type Answer = Omit<DecideApprovalInput, "approvalId" | "inputHash">;
type Mode = "choose" | "edit" | "deny" | "always";

/** The answers to a question. */
export function Decision({
  asked,
  shownAtMs,
  deciding,
  proposal,
  sent,
  decided,
}: {
  readonly asked: Asked;
  readonly shownAtMs: number;
  readonly deciding: Deciding | null;
  readonly proposal: Proposal | null;
  /** The decision is under way. One with values may come back with their errors, and is waited for. */
  readonly sent: () => void;
  /** The server has taken the decision. */
  readonly decided: () => void;
}): ReactNode {
  const drafts = useDraftsOf(asked.id);
  // Words that the end of a session, or another question, has interrupted are shown again.
  const [mode, setMode] = useState<Mode>(() => (drafts.has("deny") ? "deny" : drafts.has("edit") ? "edit" : "choose"));
  const { t } = useLingui();
  const mayStore = useMay("STORE_ALLOW_RULES");
  const isBusy = deciding?.kind === "sending";
  const box = useFocusKept<HTMLDivElement>(isBusy);
  const reasons = asked.viewerCannotDecideReasons;
  const mayDecide = reasons.length === 0 && asked.viewerCanDecide;
  const isCall = asked.kind === "TOOL_CALL";
  const isPlain = isCall || asked.kind === "NETWORK_HOST";
  const noEdit = isCall
    ? asked.quorum > 1
      ? t`With a quorum the input cannot be edited.`
      : null
    : t`Only the input of a call can be edited.`;
  const isAdministrator = useViewer().roles.includes("ADMIN");
  const noRule = !mayStore.isAllowed ? (
    mayStore.reason === null ? (
      t`You may not store rules.`
    ) : (
      // The words of the server.
      <ServerWords text={mayStore.reason} />
    )
  ) : asked.quorum > 1 && !isAdministrator ? (
    t`Several people must allow it: only an administrator stores a rule for it.`
  ) : null;
  const answer = async (given: Answer): Promise<boolean> => {
    const deciding = decide({ approvalId: asked.id, inputHash: asked.inputHash, ...given });
    if (given.input === undefined && given.values === undefined && given.raiseTo === undefined) sent();
    const isTaken = await deciding;
    if (isTaken) {
      drafts.forget();
      decided();
    }
    return isTaken;
  };
  const answerInView = (given: Answer): void => void (performance.now() - shownAtMs > SEEN_MS ? answer(given) : null);
  const back = (): void => {
    if (mode !== "choose") drafts.forget();
    setMode("choose");
    box.current?.focus();
  };
  const canAct = mayDecide && !isBusy && mode === "choose" && isPlain;
  useKeys({
    Enter: () => {
      if (canAct) answerInView({ decision: "ALLOW" });
    },
    d: () => (canAct ? setMode("deny") : null),
    e: () => {
      if (canAct && noEdit === null) setMode("edit");
      else if (mayDecide && !isPlain) box.current?.querySelector<HTMLElement>("input, textarea, select")?.focus();
    },
    a: () => (canAct && noRule === null ? setMode("always") : null),
    Escape: () => back(),
  });
  const problems = deciding?.kind === "refused" ? deciding.problems : [];
  if (!mayDecide) return <Reasons reasons={reasons} />;
  const budget = budgetIn(asked);
  const question = inputIn(asked);
  return (
    <div className="decision" ref={box} tabIndex={-1} aria-busy={isBusy}>
      {mode === "edit" || question !== null
        ? null
        : problems.map(({ message }) => (
            <p key={message} role="alert" className="alert">
              <ServerWords text={message} />
            </p>
          ))}
      {budget !== null ? (
        <RaiseBudget
          asked={budget}
          isBusy={isBusy}
          raise={(raiseTo) => answerInView({ decision: "ALLOW", raiseTo })}
          deny={() => answerInView({ decision: "DENY" })}
        />
      ) : question !== null ? (
        <ValuesForm
          about={asked.id}
          question={question}
          isBusy={isBusy}
          problems={problems}
          give={(values) => answerInView({ decision: "ALLOW", values })}
          decline={() => answerInView({ decision: "DENY" })}
        />
      ) : asked.kind === "OUTCOME_UNKNOWN" ? (
        <OutcomeForm
          isBusy={isBusy}
          about={asked.id}
          isRepeatable={asked.toolCall?.tool?.isIdempotent === true}
          answer={answerInView}
        />
      ) : mode === "deny" ? (
        <DenyWithWords about={asked.id} isBusy={isBusy} back={back} deny={(note) => answerInView({ decision: "DENY", note })} />
      ) : mode === "edit" ? (
        <EditInput
          asked={asked}
          isBusy={isBusy}
          problems={problems}
          back={back}
          allow={(input) => answerInView({ decision: "ALLOW", input })}
        />
      ) : mode === "always" ? (
        <AlwaysAllow asked={asked} proposed={proposal} back={back} allow={() => answer({ decision: "ALLOW" })} />
      ) : (
        <Choices
          isBusy={isBusy}
          isHost={asked.kind === "NETWORK_HOST"}
          noEdit={noEdit}
          noRule={noRule}
          allow={() => answerInView({ decision: "ALLOW" })}
          open={setMode}
        />
      )}
    </div>
  );
}

function Choices({
  isBusy,
  isHost,
  noEdit,
  noRule,
  allow,
  open,
}: {
  readonly isBusy: boolean;
  readonly isHost: boolean;
  readonly noEdit: string | null;
  readonly noRule: ReactNode;
  readonly allow: () => void;
  readonly open: (mode: Mode) => void;
}): ReactNode {
  const id = useId();
  return (
    <>
      <div className="row choices">
        <button type="button" className="primary" disabled={isBusy} onClick={firstClick(allow)}>
          {isBusy ? <Trans>Sending …</Trans> : isHost ? <Trans>Allow for this agent</Trans> : <Trans>Allow once</Trans>}{" "}
          <kbd>⏎</kbd>
        </button>
        {isHost ? null : (
          <button
            type="button"
            disabled={isBusy || noEdit !== null}
            aria-describedby={noEdit === null ? undefined : `${id}-edit`}
            onClick={() => open("edit")}
          >
            <Trans>Edit and allow</Trans> <kbd>e</kbd>
          </button>
        )}
        <button type="button" className="danger" disabled={isBusy} onClick={() => open("deny")}>
          <Trans>Deny …</Trans> <kbd>d</kbd>
        </button>
        <button
          type="button"
          disabled={isBusy || noRule !== null}
          aria-describedby={noRule === null ? undefined : `${id}-rule`}
          onClick={() => open("always")}
        >
          <Trans>Always allow …</Trans> <kbd>a</kbd>
        </button>
      </div>
      <WhyDisabled
        of={[
          { id: `${id}-edit`, words: isHost ? null : noEdit },
          { id: `${id}-rule`, words: noRule === null ? null : <Trans>No rule: {noRule}</Trans> },
        ]}
      />
    </>
  );
}

function Reasons({ reasons }: { readonly reasons: readonly CannotDecideReason[] }): ReactNode {
  const { t } = useLingui();
  const words: Readonly<Record<CannotDecideReason, string>> = {
    ALREADY_DECIDED: t`You have already decided; it waits for other people.`,
    CLOSED: t`It is closed.`,
    EXPIRED: t`The time for a decision is over.`,
    NO_ROLE: t`Deciding needs the role approver or admin.`,
    SELF_APPROVAL: t`You asked for it yourself; another person decides.`,
  };
  return (
    <div className="decision">
      {reasons.map((reason) => (
        <p key={reason} className="note">
          {words[reason]}
        </p>
      ))}
    </div>
  );
}
