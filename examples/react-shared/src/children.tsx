import type { ReactNode } from "react";
import { visible } from "@triplane/client/command-lines";
import type { Child } from "@triplane/client/conversation";
import { childrenOf, childState, type ChildState, type Tree } from "@triplane/client/tree";
import type { Actions } from "./actions.ts";
import { Approval } from "./approval.tsx";

const STATES: Readonly<Record<ChildState, string>> = {
  working: "works …",
  asks: "asks",
  ok: "done",
  error: "failed",
  interrupted: "interrupted",
};

/** An agent that a call has started, with those that it has started itself. */
export function ChildCard({
  child,
  tree,
  open,
}: {
  readonly child: Child;
  readonly tree: Tree;
  readonly open: (agentId: string) => void;
}): ReactNode {
  const { agentId, templateId, isBackground, end } = child;
  const description = visible(child.description);
  const state = childState(child, tree);
  return (
    <section className="child" aria-label={`Agent: ${description}`} data-state={state}>
      <div className="head">
        <p>
          <b>{description}</b> {templateId}
          {isBackground ? " in the background" : ""}: <strong>{STATES[state]}</strong>
        </p>
        <button type="button" aria-label={`Open: ${description}`} onClick={() => open(agentId)}>
          Open
        </button>
      </div>
      {end === null || end.answer === "" ? null : (
        <p className="answer" tabIndex={0}>
          {visible(end.answer)}
        </p>
      )}
      {childrenOf(agentId, tree).map((below) => (
        <ChildCard key={below.agentId} child={below} tree={tree} open={open} />
      ))}
    </section>
  );
}

/** The most questions that are shown. */
const SHOWN = 5;

/** The open questions of the agents below, each with the path of agents that leads to it. */
export function TreeApprovals({
  tree: { approvals },
  actions,
  canStoreRules,
}: {
  readonly tree: Tree;
  readonly actions: Actions;
  readonly canStoreRules: boolean;
}): ReactNode {
  return (
    <section aria-label="Questions of other agents" className="tree-approvals">
      <p aria-live="polite">
        {approvals.length === 0 ? "" : `${approvals.length} ${approvals.length === 1 ? "question" : "questions"} of other agents`}
        {approvals.length > SHOWN ? `, the first ${SHOWN} are shown` : ""}
      </p>
      <ol>
        {approvals.slice(0, SHOWN).map(({ path, item }) => (
          <li key={item.key} className="approval">
            <Approval
              item={item}
              askedBy={path.map(({ description }) => visible(description))}
              actions={actions}
              canStoreRules={canStoreRules}
            />
          </li>
        ))}
      </ol>
    </section>
  );
}
