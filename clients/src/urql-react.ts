import { createRequest, type Client } from "@urql/core";
import { useClient } from "urql";
import { CONVERSATION, type Conversation, type ConversationPage } from "./conversation.ts";
import { useFollowed, type Timeline } from "./react.ts";
import type { TimelineView } from "./timeline-view.ts";

export type { Timeline } from "./react.ts";

let followed = 0;

/**
 * The timeline of an agent, from its first event on and then live, as a view; of nobody while `agentId` is null. It asks
 * through the resumeExchange of the Provider's client.
 */
export function useTimeline(agentId: string | null): Timeline<Conversation>;
export function useTimeline<Page, View>(agentId: string | null, view: TimelineView<Page, View>): Timeline<View>;
export function useTimeline(
  agentId: string | null,
  view: TimelineView<never, unknown> | TimelineView<ConversationPage, Conversation> = CONVERSATION,
): Timeline<unknown> {
  const client: Client = useClient();
  return useFollowed(agentId, view as TimelineView<never, unknown>, client, (document, variables, listener) => {
    const request = createRequest(document, variables);
    followed += 1;
    // Two that follow the same agent each need all pages: requests of one key would share them.
    const own = { ...request, key: request.key + followed };
    const operation = client.createRequestOperation<Record<string, never>>("subscription", own, {
      onResumeStatus: listener.status,
    });
    const { unsubscribe } = client.executeRequestOperation(operation).subscribe(({ data, error, hasNext }) => {
      const { networkError } = error ?? {};
      if (error !== undefined) listener.failed(networkError ?? error);
      // With its end a stream says its last page again, without its lists.
      else if (data !== undefined && data !== null && hasNext) listener.data(data);
    });
    return unsubscribe;
  });
}
