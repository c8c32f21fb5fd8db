import { Trans, useLingui } from "@lingui/react/macro";
import { visible } from "@triplane/client/command-lines";
import { Link } from "@tanstack/react-router";
import { useEffect, useState, type ReactNode } from "react";
import { CallState } from "../calls/call-state.tsx";
import { Ago } from "../design/clock.tsx";
import { durationText } from "../design/time.ts";
import { OriginDocument, type OriginQuery } from "../generated/documents.ts";
import { ask } from "../session/ask.ts";
import { nameOf } from "../session/viewer.tsx";
import type { Asked } from "./asked.ts";

type Message = Extract<OriginQuery["timeline"]["events"][number], { readonly messageId: unknown }>;

/**
 * The way to the question: the newest message of a person to the root of the path, the path of agents, the words that the agent
 * above gave this one, and the last calls.
 */
export function Origin({ asked }: { readonly asked: Asked }): ReactNode {
  const { t } = useLingui();
  const origin = useOrigin(asked);
  const asking = (origin?.root?.events ?? []).findLast((event) => "messageId" in event);
  const message = (origin?.timeline.events ?? []).findLast((event) => "messageId" in event);
  const above = asked.agentPath.at(-2) ?? null;
  const calls = (origin?.agent?.toolCalls.nodes ?? []).filter(({ id }) => id !== asked.toolCall?.id).slice(-5);
  return (
    <section aria-label={t`How it came about`}>
      <h3>
        <Trans>How it came about</Trans>
      </h3>
      <p className="path-of-agents">
        {asked.agentPath.map(({ id, title, template }, index) => (
          <span key={id}>
            {index === 0 ? null : <span aria-hidden> › </span>}
            <Link to="/agents/$agentId" params={{ agentId: id }}>
              {agentName({ title, template })}
            </Link>
          </span>
        ))}
      </p>
      {origin === null ? <div className="skeleton" /> : null}
      {asking === undefined ? null : <Said message={asking} by={nameOf(asking.sentBy)} />}
      {message === undefined ? null : (
        <Said
          message={message}
          by={above === null || message.sentBy.kind === "USER" ? nameOf(message.sentBy) : agentName(above)}
        />
      )}
      {calls.length === 0 ? null : (
        <ol className="calls" aria-label={t`Last calls`}>
          {calls.map(({ id, name, inputPreview, state, durationMs }) => (
            <li key={id}>
              <code className="name">{visible(name)}</code>
              <code className="preview">{visible(inputPreview ?? "")}</code>
              <CallState state={state} />
              <span className="quiet small">{durationMs === null ? "" : durationText(durationMs)}</span>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

function Said({ message: { text, timestamp }, by }: { readonly message: Message; readonly by: string }): ReactNode {
  const { t } = useLingui();
  return (
    <blockquote className="said">
      <p>{visible(text ?? t`(erased)`)}</p>
      <footer className="small quiet">
        {by} · <Ago time={timestamp} />
      </footer>
    </blockquote>
  );
}

function agentName({ title, template }: Pick<Asked["agentPath"][number], "title" | "template">): string {
  return `${template.templateId}${title === null ? "" : ` “${visible(title)}”`}`;
}

function useOrigin({ id, agent, agentPath }: Asked): OriginQuery | null {
  const [found, setFound] = useState<{ readonly of: string; readonly origin: OriginQuery } | null>(null);
  const root = agentPath[0]?.id ?? agent.id;
  const rootId = root === agent.id ? null : root;
  useEffect(() => {
    let isCurrent = true;
    ask(OriginDocument, { agentId: agent.id, rootId: rootId ?? agent.id, isBelow: rootId !== null }).then(
      (origin) => (isCurrent ? setFound({ of: id, origin }) : null),
      () => null,
    );
    return () => {
      isCurrent = false;
    };
  }, [id, agent.id, rootId]);
  return found?.of === id ? found.origin : null;
}
