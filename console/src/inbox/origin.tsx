import { Trans, useLingui } from "@lingui/react/macro";
import { visible } from "@triplane/client/command-lines";
import { Link } from "@tanstack/react-router";
import { useEffect, useState, type ReactNode } from "react";
import { useCallWords } from "../calls/state-words.ts";
import { Ago } from "../design/clock.tsx";
import { durationText } from "../design/time.ts";
import { OriginDocument, type OriginQuery } from "../generated/documents.ts";
import { ask } from "../session/ask.ts";
import { nameOf } from "../session/viewer.tsx";
import type { Asked } from "./asked.ts";

/** The way to the question: the path of agents, the newest message of a person, and the last calls. */
export function Origin({ asked }: { readonly asked: Asked }): ReactNode {
  const { t } = useLingui();
  const callWords = useCallWords();
  const origin = useOrigin(asked);
  const messages = (origin?.timeline.events ?? []).filter((event) => "messageId" in event);
  const message = messages.at(-1);
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
              {template.templateId}
              {title === null ? "" : ` “${visible(title)}”`}
            </Link>
          </span>
        ))}
      </p>
      {origin === null ? <div className="skeleton" /> : null}
      {message === undefined ? null : (
        <blockquote className="said">
          <p>{visible(message.text ?? t`(erased)`)}</p>
          <footer className="small quiet">
            {nameOf(message.sentBy)} · <Ago time={message.timestamp} />
          </footer>
        </blockquote>
      )}
      {calls.length === 0 ? null : (
        <ol className="calls" aria-label={t`Last calls`}>
          {calls.map(({ id, name, inputPreview, isError, state, durationMs }) => (
            <li key={id}>
              <code className="name">{name}</code>
              <code className="preview">{visible(inputPreview ?? "")}</code>
              <span className={`badge ${isError ? "bad" : ""}`}>{callWords[state]}</span>
              <span className="quiet small">{durationMs === null ? "" : durationText(durationMs)}</span>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

function useOrigin({ id, agent }: Asked): OriginQuery | null {
  const [found, setFound] = useState<{ readonly of: string; readonly origin: OriginQuery } | null>(null);
  useEffect(() => {
    let isCurrent = true;
    ask(OriginDocument, { agentId: agent.id }).then(
      (origin) => (isCurrent ? setFound({ of: id, origin }) : null),
      () => null,
    );
    return () => {
      isCurrent = false;
    };
  }, [id, agent.id]);
  return found?.of === id ? found.origin : null;
}
