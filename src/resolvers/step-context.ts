import DataLoader from "dataloader";
import { GraphQLError } from "graphql";
import type { StepOfAgent } from "../agent/calls/call.ts";
import { readsTenant } from "../agent/actors/actor.ts";
import { contextAt, type StepContext } from "../agent/conversation/context-at.ts";
import type { SentMessage } from "../agent/conversation/sent-request.ts";
import { checkPage, DEFAULT_PAGE, pageOfRows, readPlace, type Connection, type Order, type PageArguments } from "./connection.ts";
import { clientError, type Context, type ErrorCode } from "./context.ts";

/** A message of a request, by its index in it. */
export type PlacedMessage = SentMessage & { readonly index: number };

const IN_ORDER: Order<PlacedMessage> = {
  name: "contextMessages",
  columns: [{ name: "index", direction: "asc", holds: "integer", nulls: "never" }],
};

/** The most characters of the messages of all requests that one answer reads. */
const MOST_CHARACTERS = 64 * 1024 * 1024;

/** The requests that one answer asks for together are one read, each step once. */
const asked = new WeakMap<Context["loaders"], DataLoader<StepOfAgent, StepContext | null>>();

/**
 * The request of a step of an agent. The caller has checked the agent's visibility. Throws FORBIDDEN for
 * people who see only their own agents: the system prompt and the tools belong to the operator.
 */
export async function contextAtStep(context: Context, agentId: string, step: number): Promise<StepContext | null> {
  const { actor, loaders } = context;
  if (!readsTenant(actor)) throw forbidden();
  const loader = asked.get(loaders) ?? new DataLoader((steps) => contextsAt(context, steps), { cache: false });
  asked.set(loaders, loader);
  return loader.load({ agentId, step });
}

/** Without a status of HTTP: the other fields of the answer are fine. */
function forbidden(): GraphQLError {
  const message = "reading what a model was sent needs the role viewer, approver or admin";
  return new GraphQLError(message, { extensions: { code: "FORBIDDEN" satisfies ErrorCode } });
}

/** One after another, each step once. */
function contextsAt(
  { services, tenant, expensive }: Pick<Context, "services" | "tenant" | "expensive">,
  steps: readonly StepOfAgent[],
): Promise<readonly (StepContext | Error | null)[]> {
  const reads = { sql: services.reads, transcripts: services.transcripts };
  const read = new Map<string, StepContext | null>();
  let characters = 0;
  return expensive.inTurn(tenant, async () => {
    const found: (StepContext | Error | null)[] = [];
    for (const { agentId, step } of steps) {
      const key = `${agentId}:${step}`;
      let each = read.get(key);
      if (each === undefined && characters <= MOST_CHARACTERS) {
        each = await contextAt(reads, { tenant, agentId, step });
        read.set(key, each);
        characters += JSON.stringify(each?.messages ?? []).length;
      }
      found.push(each === undefined ? clientError("ANSWER_TOO_LARGE", TOO_LARGE) : each);
    }
    return found;
  });
}

const TOO_LARGE = `the requests of these steps have more than ${MOST_CHARACTERS} characters: ask for fewer of them`;

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
