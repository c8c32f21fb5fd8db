import { useState, type ReactNode } from "react";
import type { ResumeStatus } from "@triplane/client";
import { cacheText, contextText, type Conversation, type ConversationItem } from "@triplane/client/conversation";
import { hasWork, type Tree } from "@triplane/client/tree";
import type { Actions } from "./actions.ts";
import { Approval } from "./approval.tsx";
import { AgentList, type OwnAgent } from "./agent-list.tsx";
import { AskUser } from "./ask-user.tsx";
import { ChildCard, TreeApprovals } from "./children.tsx";
import type { BeginningQuery } from "./generated/documents.ts";
import { Above, useOpenedHeading, type Agent } from "./opened-agent.tsx";

/** A conversation with an agent: it knows nothing of the GraphQL client. */
export function ConversationScreen({
  title,
  beginning,
  agents,
  agentId,
  agent,
  view,
  tree,
  status,
  problem,
  actions,
}: {
  /** The name of the app. */
  readonly title: string;
  /** Who asks, and what they can make agents of; null until the server has said it. */
  readonly beginning: BeginningQuery | null;
  /** The newest agents of the viewer. */
  readonly agents: readonly OwnAgent[];
  /** The agent that is shown; null before there is one. */
  readonly agentId: string | null;
  /** The same; null until the server has said it. */
  readonly agent: Agent | null;
  readonly view: Conversation;
  /** The agents below it. */
  readonly tree: Tree;
  readonly status: ResumeStatus | null;
  readonly problem: string | null;
  readonly actions: Actions;
}): ReactNode {
  const hasAgent = agentId !== null;
  const [written, setDraft] = useState(() => newDraft(""));
  const [chosen, choose] = useState<string | null>(null);
  const templates = beginning?.templates.map(({ templateId }) => templateId) ?? [];
  const template = chosen ?? templates.find((id) => id === "assistant") ?? templates[0] ?? "";
  const refusal = hasAgent
    ? null
    : (beginning?.viewer.abilities.find(({ action }) => action === "CREATE_AGENTS")?.reason ?? null);
  const canStoreRules = beginning?.viewer.abilities.some(({ action, isAllowed }) => action === "STORE_ALLOW_RULES" && isAllowed);
  const [isSending, setSending] = useState(false);
  const heading = useOpenedHeading(agentId);
  return (
    <main>
      <header>
        <h1 ref={heading} tabIndex={-1}>
          {title}
          {agent === null ? "" : `: ${agent.model}`}
        </h1>
        <p>{beginning === null ? "" : viewerText(beginning.viewer)}</p>
        <p role="status">{hasAgent ? statusText(status, view) : "no agent yet"}</p>
        <button type="button" onClick={actions.begin}>
          New agent
        </button>
      </header>
      <AgentList agents={agents} shown={agentId} open={actions.open} />
      {agent?.parent ? <Above agent={agent} parent={agent.parent} open={actions.open} /> : null}
      {problem === null && refusal === null ? null : <p role="alert">{problem ?? refusal}</p>}
      <Standing view={view} />
      <ol aria-label="Conversation">
        {view.items.map((item) => (
          <li key={item.key} className={item.kind}>
            <Shown item={item} tree={tree} actions={actions} canStoreRules={canStoreRules ?? false} />
          </li>
        ))}
      </ol>
      <TreeApprovals tree={tree} actions={actions} canStoreRules={canStoreRules ?? false} />
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (written.draft.trim() === "" || isSending) return;
          setSending(true);
          setDraft(newDraft(""));
          void actions.send(written.draft, template, written.key).then((isSent) => {
            if (!isSent) setDraft((since) => (since.draft === "" ? written : newDraft(`${written.draft} ${since.draft}`)));
            setSending(false);
          });
        }}
      >
        {hasAgent || templates.length < 2 ? null : (
          <select
            aria-label="Template"
            value={template}
            disabled={isSending}
            onChange={(event) => {
              choose(event.target.value);
              setDraft(newDraft(written.draft));
            }}
          >
            {templates.map((id) => (
              <option key={id}>{id}</option>
            ))}
          </select>
        )}
        <input
          aria-label="Message"
          placeholder="Find every TODO and make a todo for each."
          value={written.draft}
          onChange={(event) => setDraft(newDraft(event.target.value))}
        />
        <button type="submit" disabled={isSending || (!hasAgent && template === "")}>
          Send
        </button>
        <button type="button" disabled={!view.isWorking} onClick={actions.interrupt}>
          Interrupt
        </button>
        {hasWork(tree) ? (
          <button type="button" onClick={actions.interruptAll}>
            Stop all agents
          </button>
        ) : null}
      </form>
    </main>
  );
}

function Shown({
  item,
  tree,
  actions,
  canStoreRules,
}: {
  readonly item: ConversationItem;
  readonly tree: Tree;
  readonly actions: Actions;
  readonly canStoreRules: boolean;
}): ReactNode {
  switch (item.kind) {
    case "message":
      return <p>{item.text}</p>;
    case "text":
      return (
        <p data-state={item.state}>
          {item.text}
          {item.state === "streaming" ? <span aria-hidden="true">▍</span> : null}
          {item.state === "aborted" ? <em> (broken off)</em> : null}
        </p>
      );
    case "thinking":
      return (
        <details open={item.state === "streaming"}>
          <summary>{item.state === "streaming" ? "thinking …" : "thought"}</summary>
          <p>{item.text}</p>
        </details>
      );
    case "tool":
      if (item.toAnswer !== null && item.call.name === "ask_user")
        return <AskUser input={item.toAnswer.input} answer={(text) => actions.answer(item.call.callId, text)} />;
      return (
        <>
          <details>
            <summary>
              <code>{item.call.name}</code> {item.call.inputPreview} <strong>{item.call.state}</strong>
              {item.call.durationMs === null ? "" : ` in ${item.call.durationMs.toFixed(0)} ms`}
              {item.call.cachedFrom === null ? "" : " (cached)"}
              {item.progress === null || item.call.durationMs !== null ? "" : ` ${progressText(item.progress)}`}
            </summary>
            <pre>{item.call.output ?? ""}</pre>
          </details>
          {item.child === null ? null : <ChildCard child={item.child} tree={tree} open={actions.open} />}
        </>
      );
    case "approval":
      return <Approval item={item} actions={actions} canStoreRules={canStoreRules} />;
    case "shell":
      return (
        <p>
          <code>{item.command}</code> {item.end ?? "runs in the background"}
        </p>
      );
    case "reminder":
      return (
        <p>
          Reminder from {item.by}: {item.text}
        </p>
      );
    case "files":
      return <p>{item.text}</p>;
    case "error":
      return <p>{item.text}</p>;
    case "compaction":
      return <p>{item.text}</p>;
    case "end":
      return (
        <>
          <p>The turn ended: {item.reason}</p>
          {item.problems.length === 0 ? null : (
            <ul aria-label="Problems">
              {item.problems.map((problem) => (
                <li key={problem}>{problem}</li>
              ))}
            </ul>
          )}
        </>
      );
    case "value":
      return (
        <figure aria-label="Value">
          <pre tabIndex={0}>{JSON.stringify(item.value, null, 2)}</pre>
        </figure>
      );
  }
}

/** The side of the conversation: the todo list, the usage, and the size of the context. */
function Standing({ view: { todos, usage, context, cache } }: { readonly view: Conversation }): ReactNode {
  return (
    <>
      {todos.length === 0 ? null : (
        <ul aria-label="Todos">
          {todos.map(({ todoId, title, status }) => (
            <li key={todoId} data-state={status}>
              {title ?? "(erased)"} <em>{status.toLowerCase().replace("_", " ")}</em>
            </li>
          ))}
        </ul>
      )}
      {usage.totalTokens === 0 ? null : (
        <p className="usage">
          {usage.totalTokens} tokens{usage.costUsd === null ? "" : `, $${usage.costUsd.toFixed(4)}`}
        </p>
      )}
      {context.tokens === null || context.window === null ? null : (
        <p className="context">
          <meter aria-label="Context" min={0} max={context.window} high={0.75 * context.window} value={context.tokens} />{" "}
          {contextText(context)}
        </p>
      )}
      {cacheText(cache) === "" ? null : <p className="cache">{cacheText(cache)}</p>}
    </>
  );
}

function progressText({ eventType, eventData }: NonNullable<Extract<ConversationItem, { kind: "tool" }>["progress"]>): string {
  return `${eventType} ${JSON.stringify(eventData)}`;
}

/** Another text is another intent. */
function newDraft(draft: string): { readonly draft: string; readonly key: string } {
  return { draft, key: crypto.randomUUID() };
}

function viewerText({ actor, roles, tenant }: BeginningQuery["viewer"]): string {
  return `${actor.name ?? actor.actorId} (${roles.join(", ").toLowerCase()}) of ${tenant}`;
}

function statusText(status: ResumeStatus | null, view: Conversation): string {
  switch (status?.kind) {
    case undefined:
    case "connecting":
      return "connecting …";
    case "lost":
      return "connection lost, trying again …";
    case "outage":
      return `the server's database is away since ${status.outage.since}`;
    case "catching up":
      return "catching up …";
    case "ended":
      return "ended";
    case "caught up":
      return view.isWorking ? "live, working" : "live";
  }
}
