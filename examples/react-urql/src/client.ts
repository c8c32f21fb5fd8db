import { resumeExchange } from "@triplane/client/urql";
import { overWebSocket } from "@triplane/client/websocket";
import type { ResumeStatus } from "@triplane/client";
import { cacheExchange, Client, fetchExchange } from "urql";

const socketUrl = new URL("/graphql", location.href.replace(/^http/, "ws")).href;

/** An urql client whose subscriptions resume. `onStatus` is told how they stand. */
export function makeClient(onStatus: (status: ResumeStatus) => void): Client {
  return new Client({
    url: "/graphql",
    preferGetMethod: false,
    exchanges: [cacheExchange, fetchExchange, resumeExchange(overWebSocket({ url: socketUrl }), { onStatus })],
  });
}
