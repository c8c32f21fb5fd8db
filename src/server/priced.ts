import { GraphQLError, type ExecutionArgs, type ExecutionResult } from "graphql";
import type { Plugin } from "graphql-yoga";
import type { Context } from "../resolvers/context.ts";
import { priceOf } from "./price.ts";

export const pricedOperations: Plugin<Partial<Context>> = {
  onExecute: ({ args, setResultAndStopExecution }) => {
    try {
      chargeFor(args);
    } catch (error) {
      setResultAndStopExecution(refusal(error));
    }
  },
};

/**
 * Charges the actor of an operation, a subscription by the price of one page. Throws if it exceeds a bound or the
 * actor's remaining points. Requests without an actor are rejected elsewhere.
 */
export function chargeFor(args: ExecutionArgs): void {
  // GraphQL does not know the type of a context.
  (args.contextValue as Partial<Pick<Context, "room">>).room?.charge(priceOf(args));
}

export function refusal(error: unknown): ExecutionResult {
  if (error instanceof GraphQLError) return { errors: [error] };
  throw error;
}
