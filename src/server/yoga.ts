import type { IncomingMessage } from "node:http";
import { getOperationAST, GraphQLError, OperationTypeNode } from "graphql";
import { createYoga, type Plugin, type YogaServerInstance } from "graphql-yoga";
import type { Actor } from "../agent/actors/actor.ts";
import type { Line } from "../events/reading/reader.ts";
import { withReader } from "../db/connections/reader-limits.ts";
import { type Context, clientError } from "../resolvers/context.ts";
import { schema } from "../schema/index.ts";
import { type Access, sourceOf } from "./access.ts";
import {
  actorOf,
  askerOf,
  credentialsOf,
  whyNobody,
  type Asker,
  type Credentials,
  type Identified,
  type Recognised,
} from "./authenticate.ts";
import { CONSOLE_HEADER, requestSecret } from "./console/session-cookie.ts";
import { makeContext, type SharedContext } from "./context.ts";
import { boundedDocuments, documentCaches } from "./documents.ts";
import { boundedAnswer, httpStatus, retryAfter } from "./errors.ts";
import { EventStreams } from "./subscriptions/event-stream.ts";
import { failureShownAs } from "./subscriptions/failure.ts";
import { pageOptions, pagePolicy, renderPage } from "./graphiql.ts";
import { messageOf } from "../lib/text.ts";
import { pricedOperations } from "./price.ts";
import type { TokenGuesses } from "./token-guesses.ts";
import { asksFor } from "./trusted-documents.ts";
import type { SocketOperation } from "./subscriptions/socket-operations.ts";
import type { Subscribe } from "./subscriptions/subscribe.ts";

/** The largest body of a request, in bytes. */
export const BODY_BYTES = 8 * 1024 * 1024;

/** The transport's part of the context: who a WebSocket was opened by, and the end of the operation; or who sends a request. */
export type TransportContext = {
  readonly asker?: Asker;
  /** The operation, where it came by a WebSocket. One key for all of it: another one makes each subscription 1.4 KB larger. */
  readonly socketOperation?: SocketOperation;
  /** Opens the line to the reader of a subscription. */
  readonly line?: () => Line;
  recognised?: Recognised;
  /** The request as Node has it. */
  readonly req?: IncomingMessage;
};

/** GraphQL over HTTP and SSE at /graphql, with GraphiQL for browsers. */
export function makeYoga(
  access: Access & { readonly guesses: TokenGuesses },
  shared: SharedContext,
  mask: (error: unknown) => GraphQLError,
  subscribe: Subscribe,
): YogaServerInstance<TransportContext, Context> {
  const streams = new EventStreams(failureShownAs(mask));
  const page = graphiqlPage();
  return createYoga<TransportContext, Context>({
    schema,
    graphqlEndpoint: "/graphql",
    maxRequestBodySize: BODY_BYTES,
    landingPage: false,
    // Some megabytes of text, which few servers are asked for.
    renderGraphiQL: page.render,
    graphiql: pageOptions(access.authentication.kind === "local"),
    cors: access.allowedOrigins.length === 0 ? false : { origin: [...access.allowedOrigins], methods: ["GET", "POST"] },
    plugins: [
      strangersRefused(access, shared, mask),
      trustedDocuments(access),
      boundedDocuments,
      pricedOperations,
      boundedAnswers,
      endedReads,
      page.plugin,
      streams.plugin,
      { onSubscribe: ({ setSubscribeFn }: { setSubscribeFn: (own: Subscribe) => void }) => setSubscribeFn(subscribe) },
    ],
    extraParamNames: ["documentId"],
    parserAndValidationCache: documentCaches(),
    maskedErrors: { maskError: mask, errorMessage: "Unexpected error." },
    logging: false,
    context: async ({ asker: opener, recognised, request }) => {
      const asker = opener ?? senderOf(access, request).asker;
      const presentActor = (identity: Identified): Promise<Actor> => {
        const { sql, actorNames, logger } = shared.services;
        // Nobody waits for a name, and nobody is refused for want of one.
        void actorNames
          .remember([identity])
          .catch((error: unknown) => logger.warn(`the name of an actor could not be stored: ${messageOf(error)}`));
        return actorOf(sql, access.authentication, identity);
      };
      const known = recognised ?? (await shared.admissions.recognise(asker));
      if (known === null) throw unauthenticated(request?.headers ?? new Headers());
      const actor = await presentActor(known.identified);
      const person = { ...asker, actorOf: presentActor };
      const context = makeContext(shared, actor, person, known);
      return opener === undefined ? { ...context, line: () => streams.lineOf(request) } : context;
    },
  });
}

function senderOf(access: Access, { headers }: Request): { readonly credentials: Credentials; readonly asker: Asker } {
  const credentials = credentialsOf(headers.get("authorization"), requestSecret(headers, access));
  return { credentials, asker: askerOf(access, credentials, headers) };
}

function unauthenticated(headers: Headers): GraphQLError {
  return clientError("UNAUTHENTICATED", whyRefused(headers));
}

function whyRefused(headers: Headers): string {
  return whyNobody(headers.get("authorization"), headers.get(CONSOLE_HEADER) === "1");
}

/**
 * Refuses strangers before anything that they sent is read, parsed or kept. The page of GraphiQL may load: it asks nothing. A body
 * may come long after its headers: then sign-in is asked again, since somebody's rights may be gone (invariant 12).
 */
function strangersRefused(
  access: Access & { readonly guesses: TokenGuesses },
  { admissions, services: { logger } }: SharedContext,
  mask: (error: unknown) => GraphQLError,
): Plugin<object, TransportContext> {
  return {
    onRequest: async ({ request, url, serverContext, endResponse, fetchAPI }) => {
      const isPage = request.method === "GET" && !asksFor(url.searchParams);
      if (isPage || request.method === "OPTIONS") return;
      const refuse = (error: GraphQLError, status: number): void =>
        endResponse(
          new fetchAPI.Response(JSON.stringify({ errors: [error] }), {
            status,
            headers: { "content-type": "application/json; charset=utf-8", ...retryAfter(error) },
          }),
        );
      try {
        const { credentials, asker } = senderOf(access, request);
        const find = (): Promise<Recognised | null> => admissions.recognise(asker);
        const { req } = serverContext;
        const recognised = await (req === undefined ? find() : access.guesses.tried(credentials, req, find));
        const broken = request.method === "GET" ? brokenParameter(url.searchParams) : null;
        if (recognised === null) {
          const source = sourceOf(serverContext.req?.socket, request.headers.get("origin") ?? undefined);
          logger.tell("token_refused", `a request was refused: ${whyRefused(request.headers)}`, source);
          refuse(unauthenticated(request.headers), 401);
        } else if (broken !== null) refuse(badRequest(`the URL parameter \`${broken}\` is not valid JSON`), 400);
        else serverContext.recognised = recognised;
      } catch (error) {
        const masked = mask(error);
        refuse(masked, httpStatus(masked) ?? 500);
      }
    },
    onParams: async ({ request, context }) => {
      if (context.recognised === undefined || admissions.isRecent(context.recognised)) return;
      const recognised = await admissions.recognise(senderOf(access, request).asker);
      if (recognised === null) throw unauthenticated(request.headers);
      context.recognised = recognised;
    },
  };
}

/** The parameter of an address that must be JSON and is none, which yoga would take for a failure of the server; null if all are. */
function brokenParameter(parameters: URLSearchParams): string | null {
  return ["variables", "extensions"].find((name) => !isJson(parameters.get(name) || "null")) ?? null;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function badRequest(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code: "BAD_REQUEST" } });
}

/** Puts the text in the place of a document's id, and refuses what its sender may not send, before it is parsed. */
function trustedDocuments({ documents }: Access): Plugin<object, TransportContext> {
  return {
    onParams: ({ params, request, context: { recognised }, setParams, setResult }) => {
      if (recognised === undefined) return;
      // Of a GET, yoga reads only the parameters that it knows.
      const inUrl = request.method === "GET" ? { documentId: new URL(request.url).searchParams.get("documentId") } : {};
      try {
        const query = documents.textOf({ ...params, ...inUrl }, recognised.identified.roles);
        if (query !== null) setParams({ ...params, query });
      } catch (error) {
        if (!(error instanceof GraphQLError)) throw error;
        // A text that is not looked at: yoga wants one.
        setParams({ ...params, query: "{ __typename }" });
        setResult({ errors: [error] });
      }
    },
  };
}

/** The page of GraphiQL has some megabytes, and changes only with the server: browsers keep it for an hour, with its policy. */
function graphiqlPage(): { readonly render: typeof renderPage; readonly plugin: Plugin } {
  // Hashing takes as long as rendering, and each page is the same.
  let policy: string | null = null;
  return {
    render: async (options) => {
      const page = await renderPage(options);
      policy ??= pagePolicy(page);
      return page;
    },
    plugin: {
      onResponse: ({ response: { headers } }) => {
        if (headers.get("content-type")?.startsWith("text/html") !== true) return;
        headers.set("cache-control", "private, max-age=3600");
        headers.set("content-security-policy", policy ?? "default-src 'none'");
        headers.set("x-content-type-options", "nosniff");
        headers.set("referrer-policy", "no-referrer");
      },
    },
  };
}

/** The same row may be asked for many times: what is read once is answered often. */
const boundedAnswers: Plugin = {
  onExecute: () => ({
    onExecuteDone: ({ result, setResult }) => {
      if ("data" in result || "errors" in result) setResult(boundedAnswer(result));
    },
  }),
};

/** An operation reads only so much, and a query no further when who asked has left. */
const endedReads: Plugin<TransportContext & Partial<Context> & { readonly request?: Request }> = {
  onExecute: ({ executeFn, setExecuteFn, args }) => {
    const { actor, socketOperation, request } = args.contextValue;
    const isQuery = getOperationAST(args.document, args.operationName)?.operation === OperationTypeNode.QUERY;
    // What a mutation begins does not end with it.
    const signal = isQuery ? (socketOperation?.ended ?? request?.signal ?? null) : null;
    if (actor !== undefined) setExecuteFn((given) => withReader({ tenant: actor.tenant, signal }, () => executeFn(given)));
  },
};
