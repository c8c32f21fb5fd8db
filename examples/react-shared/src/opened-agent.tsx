import { useEffect, useRef, type ReactNode, type RefObject } from "react";
import { visible } from "@triplane/client/command-lines";
import type { AgentQuery } from "./generated/documents.ts";

/** The agent of the conversation. */
export type Agent = NonNullable<AgentQuery["agent"]>;

/** The heading is focused when another agent is opened: the button that did it may be gone. */
export function useOpenedHeading(agentId: string | null): RefObject<HTMLHeadingElement | null> {
  const heading = useRef<HTMLHeadingElement>(null);
  const shown = useRef(agentId);
  useEffect(() => {
    // The first agent is made by its first message: the person goes on typing.
    if (shown.current !== null && shown.current !== agentId) heading.current?.focus();
    shown.current = agentId;
  }, [agentId]);
  return heading;
}

/** The task of a child, and the way back to the agent that started it. */
export function Above({
  agent: { title },
  parent,
  open,
}: {
  readonly agent: Agent;
  readonly parent: NonNullable<Agent["parent"]>;
  readonly open: (agentId: string) => void;
}): ReactNode {
  const name = visible(parent.title ?? parent.template.templateId);
  return (
    <nav aria-label="Agents above">
      <button type="button" onClick={() => open(parent.id)}>
        Back to {name}
      </button>{" "}
      <b>{visible(title ?? "")}</b>
    </nav>
  );
}
