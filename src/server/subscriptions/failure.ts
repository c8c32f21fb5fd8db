import type { ExecutionResult, FormattedExecutionResult, GraphQLError } from "graphql";
import { AgentDeleted, CursorExpired, EXPIRED } from "../../events/cursor.ts";
import { clientError } from "../../resolvers/context.ts";
import { formatted } from "../errors.ts";
import { isSignInFailure } from "./admissions.ts";

/** A page that could not be answered as a whole, with its masked errors. */
export class FailedAnswer extends Error {
  override readonly name = "FailedAnswer";
  readonly result: ExecutionResult;

  constructor(result: ExecutionResult) {
    super("a page of a subscription could not be answered");
    this.result = result;
  }
}

export type Failure = {
  readonly answer: FormattedExecutionResult;
  readonly closes: "not_admitted" | "connect_again" | null;
};

export type ShowFailure = (error: unknown) => Failure;

export function failureShownAs(mask: (error: unknown) => GraphQLError): ShowFailure {
  return (error) => {
    if (error instanceof FailedAnswer)
      return { answer: { data: null, errors: (error.result.errors ?? []).slice(0, 1).map(formatted) }, closes: null };
    const shown = mask(typed(error));
    const isNobody = shown.extensions["code"] === "UNAUTHENTICATED";
    const closes = isNobody ? "not_admitted" : isSignInFailure(error) ? "connect_again" : null;
    return { answer: { errors: [formatted(shown)] }, closes };
  };
}

/** Errors of a feed, as clients know them. */
function typed(error: unknown): unknown {
  if (error instanceof CursorExpired) return clientError(EXPIRED.code, EXPIRED.message);
  return error instanceof AgentDeleted ? clientError("NOT_FOUND", "the agent was deleted: its stream has ended") : error;
}
