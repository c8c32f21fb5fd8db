import type { ReactNode } from "react";
import type { OwnAgentsQuery } from "./generated/documents.ts";

/** An agent as the list shows it. */
export type OwnAgent = OwnAgentsQuery["agents"]["nodes"][number];

/** The agents of the viewer, the last active one first; one click goes on with it. */
export function AgentList({
  agents,
  shown,
  open,
}: {
  readonly agents: readonly OwnAgent[];
  readonly shown: string | null;
  readonly open: (agentId: string) => void;
}): ReactNode {
  if (agents.length === 0) return null;
  return (
    <details className="agents">
      <summary>Your agents</summary>
      <ul aria-label="Your agents">
        {agents.map(({ id, title, state, lastActivityAt, template }) => (
          <li key={id}>
            <button type="button" aria-current={id === shown} onClick={() => open(id)}>
              {title ?? template.templateId}, {new Date(lastActivityAt).toLocaleString()} {state.toLowerCase()}
            </button>
          </li>
        ))}
      </ul>
    </details>
  );
}
