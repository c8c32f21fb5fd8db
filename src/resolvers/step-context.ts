import { readsTenant } from "../agent/actors/actor.ts";
import { contextAt, type StepContext } from "../agent/conversation/context-at.ts";
import type { SentMessage } from "../agent/conversation/sent-request.ts";
import { checkPage, DEFAULT_PAGE, pageOfRows, readPlace, type Connection, type Order, type PageArguments } from "./connection.ts";
import { clientError, type Context } from "./context.ts";

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
export async function contextAtStep(context: Context, agentId: string, step: number): Promise<StepContext | null> {
  const { actor, services, tenant, expensive } = context;
  if (!readsTenant(actor))
    throw clientError("FORBIDDEN", "reading what a model was sent needs the role viewer, approver or admin");
  const reads = { sql: services.reads, transcripts: services.transcripts };
  return expensive.run(tenant, () => contextAt(reads, { tenant, agentId, step }));
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
