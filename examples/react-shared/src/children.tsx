import type { ReactNode } from "react";
import { visible } from "@triplane/client/command-lines";
import type { Child, Conversation } from "@triplane/client/conversation";
import { childState, type ChildState, type Tree } from "@triplane/client/tree";
import type { Actions } from "./actions.ts";
import { Approval } from "./approval.tsx";

const STATES: Readonly<Record<ChildState, string>> = {
  working: "works …",
  asks: "asks",
  idle: "idle",
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
  const own = tree.conversations.get(agentId);
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
      {own === undefined ? null : <RunningCall own={own} />}
      {end === null || end.answer === "" ? null : (
        <p className="answer" tabIndex={0}>
          {visible(end.answer)}
        </p>
      )}
      {own?.children.map((below) => (
        <ChildCard key={below.agentId} child={below} tree={tree} open={open} />
      ))}
    </section>
  );
}

/** The newest call of a child, while it runs. */
function RunningCall({ own: { items } }: { readonly own: Conversation }): ReactNode {
  const last = items.findLast((item) => item.kind === "tool");
  if (last?.kind !== "tool" || last.call.state !== "EXECUTING") return null;
  return (
    <p>
      <code>{last.call.name}</code> {visible(last.call.inputPreview ?? "")}
    </p>
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
