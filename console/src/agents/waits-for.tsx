import { Link } from "@tanstack/react-router";
import { visible } from "@triplane/client/command-lines";
import type { ReactNode } from "react";
import type { AgentRowFragment } from "../generated/documents.ts";

/** The wait of an agent in words of the server. The questions and agents that they name are links. */
export function WaitsFor({ agent: { waitingFor, awaited } }: { readonly agent: AgentRowFragment }): ReactNode {
  if (waitingFor === null) return null;
  const parts: ReactNode[] = [];
  let from = 0;
  for (const { id, kind, name } of awaited) {
    const at = waitingFor.indexOf(name, from);
    if (at < 0) continue;
    parts.push(visible(waitingFor.slice(from, at)));
    parts.push(
      kind === "AGENT" ? (
        <Link key={id} to="/agents/$agentId" params={{ agentId: id }} search={{}}>
          {visible(name)}
        </Link>
      ) : (
        <Link key={id} to="/inbox/$approvalId" params={{ approvalId: id }} search={{}}>
          {visible(name)}
        </Link>
      ),
    );
    from = at + name.length;
  }
  return (
    <span lang="en">
      {parts}
      {visible(waitingFor.slice(from))}
    </span>
  );
}
