import { useApolloClient } from "@apollo/client/react";
import { parse, type DocumentNode } from "graphql";
import { CONVERSATION, type Conversation, type ConversationPage } from "./conversation.ts";
import { useFollowed, type Timeline } from "./react.ts";
import type { TimelineView } from "./timeline-view.ts";

export type { Timeline } from "./react.ts";

/**
 * The timeline of an agent, from its first event on and then live, as a view; of nobody while `agentId` is null. It asks
 * through the ResumeLink of the ApolloProvider's client.
 */
export function useTimeline(agentId: string | null): Timeline<Conversation>;
export function useTimeline<Page, View>(agentId: string | null, view: TimelineView<Page, View>): Timeline<View>;
export function useTimeline(
  agentId: string | null,
  view: TimelineView<never, unknown> | TimelineView<ConversationPage, Conversation> = CONVERSATION,
): Timeline<unknown> {
  const client = useApolloClient();
  return useFollowed(agentId, view as TimelineView<never, unknown>, client, (document, variables, listener) => {
    const subscription = client
      .subscribe<Record<string, never>>({
        query: parsed(document),
        variables,
        // Pages are events and no objects of the cache, and two that follow the same agent each need all pages.
        fetchPolicy: "no-cache",
        context: { queryDeduplication: false, onResumeStatus: listener.status },
      })
      .subscribe({
        next: ({ data, error }) => {
          if (error !== undefined) listener.failed(error);
          else if (data) listener.data(data);
        },
        error: (error: Error) => listener.failed(error),
      });
    return () => subscription.unsubscribe();
  });
}

const documents = new Map<string, DocumentNode>();

function parsed(text: string): DocumentNode {
  const document = documents.get(text) ?? parse(text);
  documents.set(text, document);
  return document;
}
