import { overWebSocket } from "@triplane/client/websocket";
import { resumeExchange } from "@triplane/client/urql";
import { cacheExchange, Client, fetchExchange } from "urql";

const URL_OF_API = "/graphql";

/** All subscriptions of the page share one socket. */
export const transport = overWebSocket({
  url: new URL(URL_OF_API, location.href.replace(/^http/, "ws")).href,
  // A socket by the session's cookie needs the same field as a request.
  connectionParams: { "x-triplane-console": "1" },
});

export const client = new Client({
  url: URL_OF_API,
  preferGetMethod: false,
  // A page of another site cannot set this header: requests by the session's cookie need it.
  fetchOptions: () => ({ headers: { "x-triplane-console": "1" } }),
  exchanges: [cacheExchange, fetchExchange, resumeExchange(transport)],
});
