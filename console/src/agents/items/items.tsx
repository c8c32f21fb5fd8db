import { Trans, useLingui } from "@lingui/react/macro";
import { visible } from "@triplane/client/command-lines";
import type { Conversation } from "@triplane/client/conversation";
import { memo, useEffect, useRef, useState, type ReactNode } from "react";
import { LongText } from "../../calls/long-text.tsx";
import { useReasonWords } from "../../calls/turn-ends.ts";
import { Markdown } from "../../design/markdown.tsx";
import { ServerWords } from "../../design/server-words.tsx";
import { readableJson } from "../../design/visible-lines.ts";
import { ApprovalItem } from "./approval-item.tsx";
import { CompactionItem } from "./compaction-item.tsx";
import { MessageImages } from "./message-images.tsx";
import { SharedMessages } from "./shared-messages.tsx";
import { CallItem } from "./call-item.tsx";
import { useEnd, useKeptPlace } from "./scrolling.ts";

type Item = Conversation["items"][number];

/** The newest items are shown; earlier ones by a button. */
const SHOWN_ITEMS = 200;

/** The conversation in order, as it is written. */
export function Items({
  agentId,
  shared,
  items,
  isLoading,
}: {
  readonly agentId: string;
  /** The number of messages that a fork shares with its original; 0 for an agent that is none. */
  readonly shared: number;
  readonly items: readonly Item[];
  readonly isLoading: boolean;
}): ReactNode {
  const { t } = useLingui();
  const scroller = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLOListElement>(null);
  const { isAtEnd, leave } = useEnd(scroller, list);
  // The first item in the page. It moves on with new items only while nobody reads above the end.
  const [first, setFirst] = useState(0);
  const least = Math.max(0, items.length - SHOWN_ITEMS);
  const hidden = Math.min(isAtEnd.current ? Math.max(first, least) : first, items.length);
  useEffect(() => {
    if (isAtEnd.current) setFirst((now) => Math.max(now, least));
  }, [least]);
  const showEarlier = useKeptPlace(scroller, () => {
    leave();
    setFirst(Math.max(0, hidden - SHOWN_ITEMS));
  });
  return (
    <div className="items-scroll" ref={scroller} tabIndex={0} role="group" aria-label={t`Conversation`}>
      {shared > 0 && hidden === 0 ? <SharedMessages agentId={agentId} count={shared} /> : null}
      {hidden > 0 ? (
        <button type="button" className="plain" onClick={showEarlier}>
          <Trans>Show {Math.min(hidden, SHOWN_ITEMS)} earlier ones</Trans>
        </button>
      ) : null}
      {isLoading ? <div className="skeleton" role="status" aria-label={t`Loading`} /> : null}
      {items.length === 0 && shared === 0 && !isLoading ? (
        <p className="empty">
          <Trans>No message yet.</Trans>
        </p>
      ) : null}
      <ol className="items" ref={list}>
        {items.slice(hidden).map((item) => (
          <li key={item.key} className={`item ${item.kind}`}>
            <OneItem agentId={agentId} item={item} />
          </li>
        ))}
      </ol>
    </div>
  );
}

const OneItem = memo(function OneItem({ agentId, item }: { readonly agentId: string; readonly item: Item }): ReactNode {
  const { t } = useLingui();
  const ends: Readonly<Record<string, string>> = useReasonWords();
  switch (item.kind) {
    case "message":
      return (
        <>
          <p className="by">{item.by}</p>
          <p className="words">{visible(item.text)}</p>
          {item.images === 0 ? null : <MessageImages messageId={item.key} count={item.images} />}
        </>
      );
    case "text":
      return (
        <>
          <Markdown text={item.text} />
          <Mark state={item.state} />
        </>
      );
    case "thinking":
      return (
        <details open={item.state === "streaming"}>
          <summary className="quiet small">{item.state === "streaming" ? t`thinking …` : t`thought`}</summary>
          <p className="words quiet">{visible(item.text)}</p>
          <Mark state={item.state} />
        </details>
      );
    case "tool":
      return <CallItem agentId={agentId} item={item} />;
    case "approval":
      return <ApprovalItem item={item} />;
    case "shell":
      return (
        <p className="small">
          <span className="badge">{item.end === null ? t`in the background` : item.end}</span>{" "}
          <code>{visible(item.command)}</code>
        </p>
      );
    case "reminder":
      return (
        <p className="small quiet">
          <span className="badge">
            <Trans>reminder by {item.by}</Trans>
          </span>{" "}
          {visible(item.text)}
        </p>
      );
    case "files":
      return (
        <p className="small quiet">
          <ServerWords text={item.text} />
        </p>
      );
    case "compaction":
      return <CompactionItem item={item} />;
    case "error":
      return (
        <p className="alert">
          <ServerWords text={item.text} />
        </p>
      );
    case "value":
      return <LongText text={readableJson(item.value)} label={t`Value`} />;
    case "end":
      return (
        <div className="small quiet end">
          {Object.hasOwn(ends, item.reason) ? ends[item.reason] : visible(item.reason)}
          {item.problems.map((problem) => (
            <p key={problem}>{visible(problem)}</p>
          ))}
        </div>
      );
  }
});

function Mark({ state }: { readonly state: "streaming" | "kept" | "aborted" }): ReactNode {
  if (state === "kept") return null;
  return state === "streaming" ? (
    <span className="caret" aria-hidden />
  ) : (
    <span className="badge">
      <Trans>broken off, and not part of the conversation</Trans>
    </span>
  );
}
