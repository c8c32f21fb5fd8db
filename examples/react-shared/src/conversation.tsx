import { useState, type ReactNode } from "react";
import type { ResumeStatus } from "@triplane/client";
import type { ApprovalDecision, ApprovalKind } from "./generated/documents.ts";
import type { Item, View } from "./view.ts";

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
  NETWORK_HOST: [],
};

/** What a person can do. */
export type Actions = {
  /** False if it could not be sent: the text stays. */
  readonly send: (text: string) => Promise<boolean>;
  readonly decide: (approvalId: string, decision: ApprovalDecision, inputHash: string | null) => void;
  readonly interrupt: () => void;
  readonly begin: () => void;
};

/** A conversation with an agent: it knows nothing of the GraphQL client. */
export function Conversation({
  title,
  view,
  status,
  problem,
  actions,
}: {
  readonly title: string;
  readonly view: View;
  readonly status: ResumeStatus | null;
  readonly problem: string | null;
  readonly actions: Actions;
}): ReactNode {
  const [draft, setDraft] = useState("");
  const [isSending, setSending] = useState(false);
  return (
    <main>
      <header>
        <h1>{title}</h1>
        <p role="status">{statusText(status, view)}</p>
        <button type="button" onClick={actions.begin}>
          New agent
        </button>
      </header>
      {problem === null ? null : <p role="alert">{problem}</p>}
      <ol aria-label="Conversation">
        {view.items.map((item) => (
          <li key={item.key} className={item.kind}>
            <Shown item={item} decide={actions.decide} />
          </li>
        ))}
      </ol>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (draft.trim() === "" || isSending) return;
          setSending(true);
          void actions.send(draft).then((isSent) => {
            if (isSent) setDraft("");
            setSending(false);
          });
        }}
      >
        <input
          aria-label="Message"
          placeholder="Find every TODO and make a todo for each."
          value={draft}
          onChange={(event) => setDraft(event.target.value)}
        />
        <button type="submit" disabled={isSending}>
          Send
        </button>
        <button type="button" disabled={!view.isWorking} onClick={actions.interrupt}>
          Interrupt
        </button>
      </form>
    </main>
  );
}

function Shown({ item, decide }: { readonly item: Item; readonly decide: Actions["decide"] }): ReactNode {
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
          </summary>
          <pre>{item.call.output ?? ""}</pre>
        </details>
      );
    case "approval":
      return (
        <section aria-label="Approval">
          <p>
            {item.request.kind === "OUTCOME_UNKNOWN" ? "What came of" : "May"}{" "}
            <code>{item.request.call?.name ?? item.request.host}</code>
            {item.request.kind === "OUTCOME_UNKNOWN" ? "?" : " run?"} ({item.request.reason}, risk {item.request.risk})
          </p>
          <pre>{item.inputText}</pre>
          {item.decision === null ? (
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
          ) : (
            <p>→ {item.decision}</p>
          )}
        </section>
      );
    case "end":
      return <p>The turn ended: {item.reason}</p>;
  }
}

function statusText(status: ResumeStatus | null, view: View): string {
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
