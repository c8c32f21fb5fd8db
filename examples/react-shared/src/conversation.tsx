import { useState, type ReactNode } from "react";
import type { ResumeStatus } from "@triplane/client";
import type { ApprovalKind, Conversation, ConversationItem } from "@triplane/client/conversation";
import type { ApprovalDecision, BeginningQuery } from "./generated/documents.ts";

/** What can be said to each kind of question. */
const CHOICES: Readonly<Record<ApprovalKind, readonly { readonly decision: ApprovalDecision; readonly label: string }[]>> = {
  TOOL_CALL: [
    { decision: "ALLOW", label: "Allow" },
    { decision: "DENY", label: "Deny" },
  ],
  OUTCOME_UNKNOWN: [
    { decision: "DONE", label: "It was done" },
    { decision: "RETRY", label: "Run again" },
    { decision: "FAIL", label: "Give up" },
  ],
  BUDGET: [],
  NETWORK_HOST: [
    { decision: "ALLOW", label: "Allow" },
    { decision: "DENY", label: "Deny" },
  ],
};

/** What a person can do. */
export type Actions = {
  /** False if it could not be sent: the text stays. The key is that of the draft: to send it again after a lost answer does it once. */
  readonly send: (text: string, templateId: string, idempotencyKey: string) => Promise<boolean>;
  readonly decide: (approvalId: string, decision: ApprovalDecision, inputHash: string | null) => void;
  readonly interrupt: () => void;
  readonly begin: () => void;
};

/** A conversation with an agent: it knows nothing of the GraphQL client. */
export function ConversationScreen({
  title,
  beginning,
  hasAgent,
  view,
  status,
  problem,
  actions,
}: {
  readonly title: string;
  /** Who asks, and what they can make agents of; null until the server has said it. */
  readonly beginning: BeginningQuery | null;
  readonly hasAgent: boolean;
  readonly view: Conversation;
  readonly status: ResumeStatus | null;
  readonly problem: string | null;
  readonly actions: Actions;
}): ReactNode {
  const [{ draft, key }, setDraft] = useState(() => newDraft(""));
  const [chosen, choose] = useState<string | null>(null);
  const templates = beginning?.templates.map(({ templateId }) => templateId) ?? [];
  const template = chosen ?? templates.find((id) => id === "assistant") ?? templates[0] ?? "";
  const refusal = hasAgent
    ? null
    : (beginning?.viewer.abilities.find(({ action }) => action === "CREATE_AGENTS")?.reason ?? null);
  const cannotDecide = beginning?.viewer.abilities.find(({ action }) => action === "DECIDE")?.reason ?? null;
  const [isSending, setSending] = useState(false);
  return (
    <main>
      <header>
        <h1>{title}</h1>
        <p>{beginning === null ? "" : viewerText(beginning.viewer)}</p>
        <p role="status">{hasAgent ? statusText(status, view) : "no agent yet"}</p>
        <button type="button" onClick={actions.begin}>
          New agent
        </button>
      </header>
      {problem === null && refusal === null ? null : <p role="alert">{problem ?? refusal}</p>}
      <ol aria-label="Conversation">
        {view.items.map((item) => (
          <li key={item.key} className={item.kind}>
            <Shown item={item} decide={actions.decide} cannotDecide={cannotDecide} />
          </li>
        ))}
      </ol>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (draft.trim() === "" || isSending) return;
          setSending(true);
          void actions.send(draft, template, key).then((isSent) => {
            if (isSent) setDraft(newDraft(""));
            setSending(false);
          });
        }}
      >
        {hasAgent || templates.length < 2 ? null : (
          <select
            aria-label="Template"
            value={template}
            onChange={(event) => {
              choose(event.target.value);
              setDraft(newDraft(draft));
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
          value={draft}
          onChange={(event) => setDraft(newDraft(event.target.value))}
        />
        <button type="submit" disabled={isSending || (!hasAgent && template === "")}>
          Send
        </button>
        <button type="button" disabled={!view.isWorking} onClick={actions.interrupt}>
          Interrupt
        </button>
      </form>
    </main>
  );
}

/** The question of an approval. */
function Asked({
  request,
}: {
  readonly request: Extract<ConversationItem, { readonly kind: "approval" }>["request"];
}): ReactNode {
  switch (request.kind) {
    case "OUTCOME_UNKNOWN":
      return (
        <>
          What came of <code>{request.call?.name}</code>?
        </>
      );
    case "NETWORK_HOST":
      return (
        <>
          May <code>{request.host}</code> be reached?
        </>
      );
    default:
      return (
        <>
          May <code>{request.call?.name}</code> run?
        </>
      );
  }
}

function Shown({
  item,
  decide,
  cannotDecide,
}: {
  readonly item: ConversationItem;
  readonly decide: Actions["decide"];
  /** Why the viewer decides on nothing; null for who may. What somebody asked for themselves, the server refuses. */
  readonly cannotDecide: string | null;
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
    case "tool":
      return (
        <details>
          <summary>
            <code>{item.call.name}</code> {item.call.inputPreview} <strong>{item.call.state}</strong>
            {item.call.durationMs === null ? "" : ` in ${item.call.durationMs.toFixed(0)} ms`}
            {item.call.cachedFrom === null ? "" : " (cached)"}
          </summary>
          <pre>{item.call.output ?? ""}</pre>
        </details>
      );
    case "approval":
      return (
        <section aria-label="Approval">
          <p>
            <Asked request={item.request} /> ({item.request.reason}, risk {item.request.risk})
          </p>
          <pre>{item.inputText}</pre>
          {item.decision !== null ? (
            <p>→ {item.decision}</p>
          ) : cannotDecide !== null ? (
            <p>Somebody else decides: {cannotDecide}</p>
          ) : (
            <>
              {CHOICES[item.request.kind].map(({ decision, label }) => (
                <button
                  key={decision}
                  type="button"
                  onClick={() => decide(item.request.approvalId, decision, item.request.inputHash)}
                >
                  {label}
                </button>
              ))}
            </>
          )}
        </section>
      );
    case "end":
      return <p>The turn ended: {item.reason}</p>;
  }
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
