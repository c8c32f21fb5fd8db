import { GraphQLError } from "graphql";
import { readsTenant } from "../agent/actors/actor.ts";
import type { StepContext } from "../agent/conversation/context-at.ts";
import type { SentMessage } from "../agent/conversation/sent-request.ts";
import { checkPage, DEFAULT_PAGE, pageOfRows, readPlace, type Connection, type Order, type PageArguments } from "./connection.ts";
import { clientError, type Context, type ErrorCode } from "./context.ts";
import { MOST_CHARACTERS } from "./loaders.ts";

/** A message of a request, by its index in it. */
export type PlacedMessage = SentMessage & { readonly index: number };

const IN_ORDER: Order<PlacedMessage> = {
  name: "contextMessages",
  columns: [{ name: "index", direction: "asc", holds: "integer", nulls: "never" }],
};

/**
 * The request of a step of an agent. The caller has checked the agent's visibility. Throws FORBIDDEN for
 * people who see only their own agents: the system prompt and the tools belong to the operator.
 */
export async function contextAtStep({ actor, loaders }: Context, agentId: string, step: number): Promise<StepContext | null> {
  if (!readsTenant(actor)) throw forbidden();
  const found = await loaders.stepContexts.load({ agentId, step });
  if (found === "TOO_LARGE") throw clientError("ANSWER_TOO_LARGE", TOO_LARGE);
  return found;
}

const TOO_LARGE = `the requests of these steps have more than ${MOST_CHARACTERS} characters: ask for fewer of them`;

/** Without a status of HTTP: the other fields of the answer are fine. */
function forbidden(): GraphQLError {
  const message = "the request of a step is shown to the roles viewer, approver and admin";
  return new GraphQLError(message, { extensions: { code: "FORBIDDEN" satisfies ErrorCode } });
}

/** A page of the messages of a request. */
export function messagesOfContext({ messages }: StepContext, args: PageArguments): Connection<PlacedMessage> {
  checkPage(args);
  const after = indexIn(args.after, "after") ?? -1;
  const before = indexIn(args.before, "before") ?? messages.length;
  const between = messages.map((message, index) => ({ ...message, index })).slice(after + 1, Math.max(0, before));
  const ordered = typeof args.last === "number" ? between.toReversed() : between;
  const size = args.last ?? args.first ?? DEFAULT_PAGE;
  return { ...pageOfRows(args, IN_ORDER, ordered.slice(0, size + 1), size), count: () => Promise.resolve(messages.length) };
}

function indexIn(place: string | null | undefined, argument: string): number | null {
  return typeof place === "string" ? Number(readPlace(IN_ORDER, place, argument)[0]) : null;
}
