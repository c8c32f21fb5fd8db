import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from "@apollo/client";
import { ResumeLink } from "@triplane/client/apollo";
import { overWebSocket } from "@triplane/client/websocket";
import type { ResumeStatus } from "@triplane/client";
import { OperationTypeNode } from "graphql";

const socketUrl = new URL("/graphql", location.href.replace(/^http/, "ws")).href;

/** Apollo Client whose subscriptions resume. `onStatus` is told how they stand. */
export function makeClient(onStatus: (status: ResumeStatus) => void): ApolloClient {
  const subscriptions = new ResumeLink(overWebSocket({ url: socketUrl }), { onStatus });
  const rest = new HttpLink({ uri: "/graphql" });
  return new ApolloClient({
    cache: new InMemoryCache(),
    link: ApolloLink.split(({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION, subscriptions, rest),
  });
}
