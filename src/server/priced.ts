import { GraphQLError, type ExecutionArgs, type ExecutionResult } from "graphql";
import { isAsyncIterable, type Plugin } from "graphql-yoga";
import type { Context } from "../resolvers/context.ts";
import type { Line } from "../events/following/line.ts";
import { sizeOf } from "../lib/size.ts";
import { clientError } from "../resolvers/errors.ts";
import { priceOf } from "./price.ts";
import type { Readers } from "../events/following/readers.ts";
import type { SocketOperation } from "./socket-operations.ts";
import type { Subscribe, SubscribePages } from "./subscribe-pages.ts";

/** Charges queries and mutations before they run; what is too dear is refused. */
export const pricedOperations: Plugin<Partial<Context>> = {
  onExecute: ({ args, setResultAndStopExecution }) => {
    try {
      charge(args);
    } catch (error) {
      setResultAndStopExecution(refusal(error));
    }
  },
};

/** Charges subscriptions by what a page of them asks for, and counts those that are open. */
export function pricedSubscriptions(subscribe: SubscribePages, readers: Readers): Subscribe {
  return async (args) => {
    const { room, socketOperation, request, line } = contextOf(args);
    if (request !== undefined && socketOperation === undefined && !takesStreams(request)) return { errors: [notAcceptable()] };
    // Yoga tells of a reader who has left by the event alone, and drops what it is given after that.
    const left = socketOperation?.ended ?? request?.signal;
    let hasLeft = left?.aborted === true;
    left?.addEventListener("abort", () => (hasLeft = true), { once: true });
    let end = (): void => {};
    try {
      refuseLarge(contextOf(args));
      charge(args);
      const leaveRoom = room?.open() ?? end;
      const close = readers.open(socketOperation === undefined ? "sse" : "websocket", line?.() ?? null);
      end = () => {
        leaveRoom();
        close();
      };
    } catch (error) {
      return refusal(error);
    }
    const answers = await subscribe(args, end).catch((error: unknown) => {
      end();
      throw error;
    });
    if (!isAsyncIterable(answers)) {
      end();
      return answers;
    }
    const leave = (): void => void answers.return?.();
    if (hasLeft) leave();
    else left?.addEventListener("abort", leave, { once: true });
    return answers;
  };
}

/** The part of the context that prices need: its room, and what says if there still is a reader, of a socket's operation or of a request. */
type PricedContext = Partial<Pick<Context, "room">> & {
  readonly socketOperation?: SocketOperation;
  readonly request?: Request;
  readonly params?: object;
  readonly line?: () => Line;
};

/** GraphQL does not know the type of a context. */
function contextOf({ contextValue }: ExecutionArgs): PricedContext {
  return contextValue as PricedContext;
}

/** True if a request over HTTP takes an answer that goes on. Yoga would refuse it only after it was subscribed. */
function takesStreams({ headers }: Request): boolean {
  return /text\/event-stream|\*\/\*/i.test(headers.get("accept") ?? "*/*");
}

function notAcceptable(): GraphQLError {
  return new GraphQLError("a subscription is answered as text/event-stream: say so in Accept, or use a WebSocket", {
    extensions: { code: "BAD_REQUEST", http: { status: 406 } },
  });
}

/** The most bytes of a request or a message that subscribes: it is kept for as long as the subscription is open. */
const SUBSCRIPTION_BYTES = 128 * 1024;

/** Throws if what subscribes is larger than a document with some variables. */
function refuseLarge({ socketOperation, request, params }: PricedContext): void {
  const bytes = socketOperation?.messageBytes ?? Number(request?.headers.get("content-length") ?? sizeOf(params));
  if (bytes > SUBSCRIPTION_BYTES)
    throw clientError(
      "DOCUMENT_TOO_LARGE",
      `what subscribes has ${bytes} bytes, and ${SUBSCRIPTION_BYTES} are the most, with its document, variables and extensions`,
    );
}

/** Throws if the operation is too dear, or the actor has no room for it now. Who is nobody is refused elsewhere. */
function charge(args: ExecutionArgs): void {
  contextOf(args).room?.charge(priceOf(args));
}

/** The refusal as a result: an error that is not the client's to mend is thrown on. */
function refusal(error: unknown): ExecutionResult {
  if (error instanceof GraphQLError) return { errors: [error] };
  throw error;
}
