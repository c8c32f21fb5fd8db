import { useEffect, useMemo, useState } from "react";
import { codeOf, isCursorCode, ResumeError } from "./errors.ts";
import type { ResumeStatus } from "./resume.ts";
import type { TimelineView } from "./timeline-view.ts";
import type { ServerError } from "./transport.ts";

/** The timeline of an agent as it stands now. */
export type Timeline<View> = {
  readonly view: View;
  /** The state of the subscription; null without an agent. */
  readonly status: ResumeStatus | null;
  /** Why nothing more comes: a ResumeError, the server's refusal, or what the view's own code threw. Null while it goes on, and after its end. */
  readonly error: Error | null;
};

/**
 * The waits before an agent that the server does not find is asked for again, in ms: a child that was just announced may be
 * on the next server a moment later.
 */
const UNKNOWN_MS = [250, 500, 1_000];

/** The listener of one subscription. */
export type TimelineListener<Page> = {
  /** The one field that the document selects. */
  readonly data: (data: Readonly<Record<string, Page>>) => void;
  readonly status: (status: ResumeStatus) => void;
  readonly failed: (error: Error) => void;
};

/** Subscribes with a client; returns the end of it. */
type Follow<Page> = (
  document: string,
  variables: { readonly agentId: string; readonly since: string },
  listener: TimelineListener<Page>,
) => () => void;

/**
 * The hook of both clients: follows the agent from its first event while the component is there, and makes the view of the
 * pages. If the server no longer goes on from a cursor, the view is made again from the beginning.
 */
export function useFollowed<Page, View>(
  agentId: string | null,
  view: TimelineView<Page, View>,
  client: object,
  follow: Follow<Page>,
): Timeline<View> {
  const { document } = view;
  const begun: Timeline<View> = { view: view.empty, status: null, error: null };
  // The subscription that is meant: what another one has said is not shown.
  const meant = useMemo(() => ({ agentId, document, client }), [agentId, document, client]);
  const [said, say] = useState({ of: meant, timeline: begun });
  useEffect(() => {
    if (meant.agentId === null) return;
    return followed(meant.agentId, view, follow, (timeline) => say({ of: meant, timeline }));
    // `view` and `follow` may be other objects each time: the document and the client say if they would do something else.
  }, [meant]);
  return said.of === meant ? said.timeline : begun;
}

function followed<Page, View>(
  agentId: string,
  { document, empty, after }: TimelineView<Page, View>,
  follow: Follow<Page>,
  say: (timeline: Timeline<View>) => void,
): () => void {
  let now: Timeline<View>;
  let end = (): void => {};
  let isFound = false;
  let unknown = 0;
  const change = (part: Partial<Timeline<View>>): void => {
    now = { ...now, ...part };
    say(now);
  };
  const failed = (error: Error): void => {
    if (error instanceof ResumeError && isCursorCode(error.code)) {
      end();
      return begin();
    }
    const waitMs = isFound || refusalOf(error) !== "NOT_FOUND" ? undefined : UNKNOWN_MS[unknown];
    if (waitMs === undefined) return change({ error });
    unknown += 1;
    end();
    change({ status: { kind: "lost", cursor: null, error: { code: "NOT_FOUND", message: error.message }, waitMs } });
    const timer = setTimeout(begin, waitMs);
    end = () => clearTimeout(timer);
  };
  const begin = (): void => {
    now = { view: empty, status: null, error: null };
    change({});
    try {
      end = follow(
        document,
        { agentId, since: "0" },
        {
          data: (data) => {
            isFound = true;
            try {
              change({ view: Object.values(data).reduce(after, now.view) });
            } catch (error) {
              end();
              change({ error: errorOf(error) });
            }
          },
          status: (status) => change({ status }),
          failed,
        },
      );
    } catch (error) {
      change({ error: errorOf(error) });
    }
  };
  begin();
  return () => end();
}

/** The code with which the server refuses an operation, in the error of either client; undefined for other errors. */
function refusalOf(error: Error): unknown {
  const errors: unknown = "errors" in error ? error.errors : "graphQLErrors" in error ? error.graphQLErrors : [];
  return Array.isArray(errors) ? codeOf(errors as readonly ServerError[]) : undefined;
}

function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
