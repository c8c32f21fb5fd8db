import { renderGraphiQL } from "@graphql-yoga/render-graphiql";
import type { GraphQLError } from "graphql";
import { createYoga, type YogaServerInstance } from "graphql-yoga";
import { withDelegators } from "../agent/delegation.ts";
import type { Context } from "../resolvers/context.ts";
import { clientError } from "../resolvers/errors.ts";
import { schema } from "../schema/index.ts";
import type { Access } from "./access.ts";
import { authenticate, bearerToken, mayStillDecide, type Identify } from "./authenticate.ts";
import { makeContext, type Admission, type SharedContext } from "./context.ts";
import { WALK } from "./graphiql.ts";
import type { Subscribe } from "./subscribe-pages.ts";

/** The largest body of a request, in bytes. */
export const BODY_BYTES = 8 * 1024 * 1024;

/** What the transport adds: who a WebSocket was opened by. */
export type TransportContext = { readonly socketIdentify?: Identify };

/** GraphQL over HTTP and SSE at /graphql, with GraphiQL for browsers. */
export function makeYoga(
  access: Access,
  shared: SharedContext,
  mask: (error: unknown) => GraphQLError,
  subscribe: Subscribe,
): YogaServerInstance<TransportContext, Context> {
  return createYoga<TransportContext, Context>({
    schema,
    graphqlEndpoint: "/graphql",
    maxRequestBodySize: BODY_BYTES,
    landingPage: false,
    renderGraphiQL,
    graphiql: { title: "Triplane", subscriptionsProtocol: "WS", defaultTabs: WALK.map((query) => ({ query })) },
    cors: access.allowedOrigins.length === 0 ? false : { origin: [...access.allowedOrigins], methods: ["GET", "POST"] },
    plugins: [{ onSubscribe: ({ setSubscribeFn }: { setSubscribeFn: (own: Subscribe) => void }) => setSubscribeFn(subscribe) }],
    maskedErrors: { maskError: mask, errorMessage: "Unexpected error." },
    logging: false,
    context: async ({ socketIdentify, request }) => {
      const byHeader: Identify = () =>
        authenticate(access.authentication, bearerToken(request.headers.get("authorization")), request.headers);
      const identify = socketIdentify ?? byHeader;
      const admission: Admission = async () => {
        const identity = await identify();
        return identity === null
          ? null
          : withDelegators(shared.parts.sql, identity, shared.parts.clock.now(), (id) =>
              mayStillDecide(access.authentication, identity.tenant, id),
            );
      };
      const actor = await admission();
      if (actor === null)
        throw clientError(
          "UNAUTHENTICATED",
          "Say who you are: send the header `Authorization: Bearer <token>`, over WebSocket as `authorization` in connectionParams.",
        );
      return makeContext(shared, actor, admission);
    },
  });
}
