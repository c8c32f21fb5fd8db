import {
  createSourceEventStream,
  GraphQLError,
  validateSubscriptionArgs,
  type ExecutionArgs,
  type ExecutionResult,
} from "graphql";
import type { Feeds } from "../../events/reading/feed.ts";
import { type Line, Reader, type Admission, type Readers } from "../../events/reading/reader.ts";
import { sizeOf } from "../../lib/size.ts";
import type { Context } from "../../resolvers/context.ts";
import { clientError } from "../../resolvers/errors.ts";
import { TimelineStream } from "../../resolvers/timeline.ts";
import { chargeFor, refusal } from "../priced.ts";
import { encoderOf, masked, readAsOne } from "./answer.ts";
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
