import { resumeExchange } from "@triplane/client/urql";
import { overWebSocket } from "@triplane/client/websocket";
import { cacheExchange, Client, fetchExchange } from "urql";

const socketUrl = new URL("/graphql", location.href.replace(/^http/, "ws")).href;

/** An urql client whose subscriptions resume. */
export function makeClient(): Client {
  return new Client({
    url: "/graphql",
    preferGetMethod: false,
    exchanges: [cacheExchange, fetchExchange, resumeExchange(overWebSocket({ url: socketUrl }))],
  });
}
