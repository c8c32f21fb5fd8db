import { useEffect, useReducer } from "react";
import { isCursorCode, ResumeError } from "./errors.ts";
import type { ResumeStatus } from "./resume.ts";
import type { TimelineView } from "./timeline-view.ts";

/** The timeline of an agent as it stands now. */
export type Timeline<View> = {
  readonly view: View;
  /** The state of the subscription; null without an agent. */
  readonly status: ResumeStatus | null;
  /** Why nothing comes any more: a ResumeError, or the server's refusal. Null while it goes on, and after its end. */
  readonly error: Error | null;
};

/** What a subscription tells the hook. */
export type TimelineListener<Page> = {
  /** The one field that the document selects. */
  readonly data: (data: Readonly<Record<string, Page>>) => void;
  readonly status: (status: ResumeStatus) => void;
  readonly failed: (error: Error) => void;
};

type Change<Page> =
  | { readonly kind: "begun" }
  | { readonly kind: "pages"; readonly pages: readonly Page[] }
  | { readonly kind: "status"; readonly status: ResumeStatus }
  | { readonly kind: "failed"; readonly error: Error };

/**
 * The hook of both clients: follows the agent from its first event while the component is there, and makes the view of the
 * pages. If the server does not go on from a cursor any more, the view is made again from the beginning.
 */
export function useFollowed<Page, View>(
  agentId: string | null,
  { document, empty, after }: TimelineView<Page, View>,
  client: object,
  follow: (
    document: string,
    variables: { readonly agentId: string; readonly since: string },
    listener: TimelineListener<Page>,
  ) => () => void,
): Timeline<View> {
  const begun: Timeline<View> = { view: empty, status: null, error: null };
  const [timeline, change] = useReducer((before: Timeline<View>, next: Change<Page>): Timeline<View> => {
    switch (next.kind) {
      case "begun":
        return begun;
      case "pages":
        return { ...before, view: next.pages.reduce(after, before.view) };
      case "status":
        return { ...before, status: next.status };
      case "failed":
        return { ...before, error: next.error };
    }
  }, begun);
  useEffect(() => {
    change({ kind: "begun" });
    if (agentId === null) return;
    let end = (): void => {};
    const begin = (): void => {
      end = follow(
        document,
        { agentId, since: "0" },
        {
          data: (data) => change({ kind: "pages", pages: Object.values(data) }),
          status: (status) => change({ kind: "status", status }),
          failed: (error) => {
            if (!(error instanceof ResumeError && isCursorCode(error.code))) return change({ kind: "failed", error });
            change({ kind: "begun" });
            begin();
          },
        },
      );
    };
    begin();
    return () => end();
    // `follow` is another function each time and does the same: the client and the document say if it would be another subscription.
  }, [agentId, document, client]);
  return timeline;
}
