import { GraphQLError, type ExecutionArgs, type ExecutionResult } from "graphql";
import { isAsyncIterable, type Plugin } from "graphql-yoga";
import type { Context } from "../resolvers/context.ts";
import { priceOf } from "./price.ts";
import type { Subscribe } from "./subscribe-pages.ts";

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
export function pricedSubscriptions(subscribe: Subscribe): Subscribe {
  return async (args) => {
    let end = (): void => {};
    try {
      charge(args);
      end = (args.contextValue as Context).room.open();
    } catch (error) {
      return refusal(error);
    }
    const answers = await subscribe(args).catch((error: unknown) => {
      end();
      throw error;
    });
    if (isAsyncIterable(answers)) return untilEnded(answers, end);
    end();
    return answers;
  };
}

/** Throws if the operation is too dear, or the actor has no room for it now. Who is nobody is refused elsewhere. */
function charge(args: ExecutionArgs): void {
  const { room } = args.contextValue as Partial<Context>;
  room?.charge(priceOf(args));
}

/** The refusal as a result: an error that is not the client's to mend is thrown on. */
function refusal(error: unknown): ExecutionResult {
  if (error instanceof GraphQLError) return { errors: [error] };
  throw error;
}

/** The same answers; `end` is called after the last of them, and when the reader leaves. */
function untilEnded(answers: AsyncIterableIterator<ExecutionResult>, end: () => void): AsyncIterableIterator<ExecutionResult> {
  return {
    async next() {
      const next = await answers.next();
      if (next.done === true) end();
      return next;
    },
    async return() {
      end();
      await answers.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
