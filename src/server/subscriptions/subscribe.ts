import {
  createSourceEventStream,
  GraphQLError,
  validateSubscriptionArgs,
  type ExecutionArgs,
  type ExecutionResult,
  executeSubscriptionEvent,
  Kind,
  visit,
  type DocumentNode,
} from "graphql";
import { withReader } from "../../db/connections/reader-limits.ts";
import type { Encoder } from "../../events/reading/answers.ts";
import type { Feeds } from "../../events/reading/feed.ts";
import { type Line, Reader, type Admission, type Readers } from "../../events/reading/reader.ts";
import { sizeOf } from "../../lib/size.ts";
import { type Context, clientError, visibleCreator } from "../../resolvers/context.ts";
import { TimelineStream, pageOf } from "../../resolvers/timeline.ts";
import { ownPageContext, sharedPageContext } from "../context.ts";
import { boundedAnswer } from "../errors.ts";
import { chargeFor, refusal } from "../price.ts";
import { FailedAnswer } from "./failure.ts";
import type { SocketOperation } from "./socket-operations.ts";

/** Subscribes, on every transport. Returns the rejection, or an iterable that yields nothing and ends with the stream. */
export type Subscribe = (args: ExecutionArgs) => Promise<ExecutionResult | AsyncIterableIterator<never>>;

type SubscriberContext = Context & {
  readonly admission: Admission;
  readonly line: () => Line;
  readonly socketOperation?: SocketOperation;
  readonly request?: Request;
  readonly params?: object;
};

type SubscribeOptions = {
  readonly feeds: Feeds;
  readonly readers: Readers;
  readonly mask: (error: unknown) => GraphQLError;
};

export function subscribeTo({ feeds, readers, mask }: SubscribeOptions): Subscribe {
  return async (args) => {
    // GraphQL does not know the type of a context.
    const context = args.contextValue as SubscriberContext;
    const { socketOperation, request, room, admission } = context;
    if (request !== undefined && socketOperation === undefined && !takesStreams(request)) return { errors: [notAcceptable()] };
    const left = socketOperation?.ended ?? request?.signal;
    let leaveRoom = (): void => {};
    try {
      refuseLarge(context);
      chargeFor(args);
      leaveRoom = room.open();
    } catch (error) {
      return refusal(error);
    }
    try {
      const validated = validateSubscriptionArgs(args);
      if (!("schema" in validated)) {
        leaveRoom();
        return { errors: validated };
      }
      const source = await readAsOne(context, () => createSourceEventStream(validated));
      if (!(source instanceof TimelineStream)) {
        leaveRoom();
        return masked(source as ExecutionResult, mask);
      }
      const encoder = encoderOf(args, validated, mask);
      const over = Promise.withResolvers<void>();
      const reader = new Reader(context.line(), admission, () => {
        leaveRoom();
        uncount();
        over.resolve();
      });
      const uncount = readers.open(socketOperation === undefined ? "sse" : "websocket", reader);
      const { scope, until, start } = source;
      feeds.open({ scope, until, encoder }, start, reader);
      const leave = (): void => reader.leave();
      if (left?.aborted === true) leave();
      else left?.addEventListener("abort", leave, { once: true });
      return untilOver(over.promise, leave);
    } catch (error) {
      leaveRoom();
      throw error;
    }
  };
}

function untilOver(over: Promise<void>, leave: () => void): AsyncIterableIterator<never> {
  const done = { done: true, value: undefined } as const;
  return {
    next: () => over.then(() => done),
    return: () => {
      leave();
      return Promise.resolve(done);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** True if an HTTP request accepts a stream. Yoga would reject it only after subscribing. */
function takesStreams({ headers }: Request): boolean {
  return /text\/event-stream|\*\/\*/i.test(headers.get("accept") ?? "*/*");
}

function notAcceptable(): GraphQLError {
  return new GraphQLError("a subscription needs `Accept: text/event-stream`, or a WebSocket", {
    extensions: { code: "BAD_REQUEST", http: { status: 406 } },
  });
}

/** The most bytes of a subscribing request or message, which is kept while the subscription is open. */
const SUBSCRIPTION_BYTES = 128 * 1024;

/** Throws if the request is larger than a document with some variables. */
function refuseLarge({ socketOperation, request, params }: SubscriberContext): void {
  const bytes = socketOperation?.messageBytes ?? Number(request?.headers.get("content-length") ?? sizeOf(params));
  if (bytes > SUBSCRIPTION_BYTES)
    throw clientError(
      "DOCUMENT_TOO_LARGE",
      `the subscription request has ${bytes} bytes, including variables and extensions; at most ${SUBSCRIPTION_BYTES} are allowed`,
    );
}

type Validated = Extract<ReturnType<typeof validateSubscriptionArgs>, { readonly schema: unknown }>;

/**
 * The encoder of a GraphQL subscription: it executes the document with each page as the root value, and encodes the
 * result as JSON. Subscribers with equal documents, variables and visibility share the execution, whose context has no
 * actor. A page with an error ends the stream: the client has no cursor for it, and would skip it (invariant 2).
 */
function encoderOf(
  { document, operationName, variableValues, contextValue }: ExecutionArgs,
  validated: Validated,
  mask: (error: unknown) => GraphQLError,
): Encoder {
  const context = contextValue as Context;
  const { number, variables, asksWhoAsks } = askedOf(document);
  const given = Object.entries(variableValues ?? {}).filter(([name]) => variables.has(name));
  const { tenant } = context.actor;
  const key = JSON.stringify([number, operationName ?? null, given, tenant, visibleCreator(context.actor)]);
  return {
    asks: asksWhoAsks ? null : key,
    answer: async (page) => {
      let isLasting = true;
      const shared = (): Context => sharedPageContext(context, () => (isLasting = false));
      const answering = {
        ...validated,
        rootValue: pageOf(page, page.start),
        contextValue: asksWhoAsks ? ownPageContext(context) : shared(),
      };
      const executed = await readAsOne(context, async () => executeSubscriptionEvent(answering));
      const result = boundedAnswer(masked(executed, mask));
      if (!isFailed(result)) return { kind: "bytes", bytes: Buffer.from(JSON.stringify(result)), isLasting };
      return { kind: isUnavailable(result) ? "unavailable" : "failed", error: new FailedAnswer(result) };
    },
  };
}

/**
 * Runs `work` as one of a tenant's readers, with an equal share and the read limits of an operation. It is not
 * cancelled: the page serves all followers.
 */
function readAsOne<Result>({ actor }: Context, work: () => Result): Result {
  return withReader({ tenant: actor.tenant, signal: null }, work);
}

function masked(result: ExecutionResult, mask: (error: unknown) => GraphQLError): ExecutionResult {
  return result.errors === undefined ? result : { ...result, errors: result.errors.map(mask) };
}

function isUnavailable({ errors }: ExecutionResult): boolean {
  return errors?.some(({ extensions }) => extensions["code"] === "STORAGE_UNAVAILABLE") === true;
}

/** Also if only a part is missing: a reader that continued would never see that part. */
function isFailed({ data, errors }: ExecutionResult): boolean {
  return data === null || data === undefined || errors !== undefined;
}

type Asked = { readonly number: number; readonly variables: ReadonlySet<string>; readonly asksWhoAsks: boolean };
const asked = new WeakMap<DocumentNode, Asked>();
let documents = 0;

/**
 * The document's number, and the variables that reach a page: all but those of the root field's arguments, which choose
 * the pages. Also whether it selects a field whose answer depends on the viewer: their names begin with `viewer`.
 */
function askedOf(document: DocumentNode): Asked {
  const known = asked.get(document);
  if (known !== undefined) return known;
  const variables = new Set<string>();
  let asksWhoAsks = false;
  visit(document, {
    Field: ({ name }) => {
      asksWhoAsks ||= name.value.startsWith("viewer");
    },
    VariableDefinition: () => false,
    Argument: (_node, _key, _parent, _path, ancestors) => (isOfRootField(ancestors) ? false : undefined),
    Variable: ({ name }) => void variables.add(name.value),
  });
  documents += 1;
  const found = { number: documents, variables, asksWhoAsks };
  asked.set(document, found);
  return found;
}

function isOfRootField(ancestors: readonly unknown[]): boolean {
  const kinds = ancestors.flatMap((ancestor) =>
    typeof ancestor === "object" && ancestor !== null && "kind" in ancestor ? [ancestor.kind] : [],
  );
  return String(kinds) === String([Kind.DOCUMENT, Kind.OPERATION_DEFINITION, Kind.SELECTION_SET, Kind.FIELD]);
}
