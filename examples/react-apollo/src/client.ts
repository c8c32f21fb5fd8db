import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from "@apollo/client";
import { possibleTypes, ResumeLink, typePolicies } from "@triplane/client/apollo";
import { overWebSocket } from "@triplane/client/websocket";
import { OperationTypeNode } from "graphql";

const socketUrl = new URL("/graphql", location.href.replace(/^http/, "ws")).href;

/** Apollo Client whose subscriptions resume. */
export function makeClient(): ApolloClient {
  const subscriptions = new ResumeLink(overWebSocket({ url: socketUrl }));
  const rest = new HttpLink({ uri: "/graphql" });
  return new ApolloClient({
    cache: new InMemoryCache({ possibleTypes, typePolicies }),
    link: ApolloLink.split(({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION, subscriptions, rest),
  });
}
