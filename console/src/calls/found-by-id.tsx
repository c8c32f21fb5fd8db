import { Trans, useLingui } from "@lingui/react/macro";
import { Link } from "@tanstack/react-router";
import { visible } from "@triplane/client/command-lines";
import { useEffect, useState, type ReactNode } from "react";
import { FoundDocument, type FoundQuery } from "../generated/documents.ts";
import { ask } from "../session/ask.ts";

type Found = FoundQuery["search"];

/** The end of an id: at least so much of it is looked up. A whole id of the API is longer, and has no spaces. */
const SHORT_ID = /^#?[0-9a-f-]{4,36}$/i;
const WHOLE_ID = /^[A-Za-z0-9+/_=-]{40,}$/;

/** True for a text that may be an id, or the end of one. */
export function mayBeId(text: string): boolean {
  return SHORT_ID.test(text) || WHOLE_ID.test(text);
}

/** The approvals, agents and calls whose id is the text or ends with it, as links. Nothing for texts that are no ids. */
export function FoundById({
  text,
  shown = new Set(),
}: {
  readonly text: string;
  /** The ids of approvals and agents that stand in the list already. */
  readonly shown?: ReadonlySet<string> | ReadonlyMap<string, unknown>;
}): ReactNode {
  const { t } = useLingui();
  const found = useFound(text.trim());
  if (found === null) return null;
  const approvals = found.approvals.filter(({ id }) => !shown.has(id));
  const agents = found.agents.filter(({ id }) => !shown.has(id));
  if (approvals.length + agents.length + found.toolCalls.length === 0) return null;
  return (
    <ul className="found lines small" aria-label={t`Found by id`}>
      {approvals.map(({ id, shortId, state, agent, toolCall }) => (
        <li key={id}>
          <Link to="/inbox/$approvalId" params={{ approvalId: id }} search={{}}>
            <Trans>Question</Trans> <code>{shortId}</code>
          </Link>{" "}
          {toolCall?.name ?? ""} · {agent.template.templateId} <span className="badge">{state.toLowerCase()}</span>
        </li>
      ))}
      {agents.map(({ id, shortId, title, template }) => (
        <li key={id}>
          <Link to="/agents/$agentId" params={{ agentId: id }}>
            <Trans>Agent</Trans> <code>{shortId}</code>
          </Link>{" "}
          {template.templateId}
          {title === null ? "" : ` “${visible(title)}”`}
        </li>
      ))}
      {found.toolCalls.map(({ id, callId, shortId, name }) => (
        <li key={id}>
          <Link to="/audit" search={{ call: callId }}>
            <Trans>Call</Trans> <code>{shortId}</code>
          </Link>{" "}
          {visible(name)}
        </li>
      ))}
    </ul>
  );
}

function useFound(text: string): Found | null {
  const [found, setFound] = useState<{ readonly of: string; readonly found: Found } | null>(null);
  useEffect(() => {
    if (!mayBeId(text)) return;
    let isCurrent = true;
    void ask(FoundDocument, { text }).then(
      ({ search }) => (isCurrent ? setFound({ of: text, found: search }) : null),
      // A search that fails finds nothing: the list itself says what is wrong.
      () => null,
    );
    return () => {
      isCurrent = false;
    };
  }, [text]);
  return found?.of === text ? found.found : null;
}
