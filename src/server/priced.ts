import { GraphQLError, type ExecutionArgs, type ExecutionResult } from "graphql";
import type { Plugin } from "graphql-yoga";
import type { Context } from "../resolvers/context.ts";
import { priceOf } from "./price.ts";

/** Charges queries and mutations before they run; what is too dear is refused. */
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
 * Charges the actor of an operation, a subscription by what a page of it asks for. Throws if it is too dear, or the actor has no room
 * for it now. Who is nobody is refused elsewhere.
 */
export function chargeFor(args: ExecutionArgs): void {
  // GraphQL does not know the type of a context.
  (args.contextValue as Partial<Pick<Context, "room">>).room?.charge(priceOf(args));
}

/** The refusal as a result: an error that is not the client's to mend is thrown on. */
export function refusal(error: unknown): ExecutionResult {
  if (error instanceof GraphQLError) return { errors: [error] };
  throw error;
}
