import {
  executeSubscriptionEvent,
  Kind,
  visit,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLError,
  type validateSubscriptionArgs,
} from "graphql";
import { withReader } from "../../db/connections/reader-limits.ts";
import type { Encoder } from "../../events/reading/answers.ts";
import type { Context } from "../../resolvers/context.ts";
import { pageOf } from "../../resolvers/timeline.ts";
import { visibleCreator } from "../../resolvers/visibility.ts";
import { ownPageContext, sharedPageContext } from "../context.ts";
import { boundedAnswer } from "../errors.ts";
import { FailedAnswer } from "./failure.ts";

type Validated = Extract<ReturnType<typeof validateSubscriptionArgs>, { readonly schema: unknown }>;

/**
 * The encoder of a GraphQL subscription: it executes the document with each page as the root value, and encodes the
 * result as JSON. Subscribers with equal documents, variables and visibility share the execution, whose context has no
 * actor. A page with an error ends the stream: the client has no cursor for it, and would skip it (invariant 2).
 */
export function encoderOf(
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
export function readAsOne<Result>({ actor }: Context, work: () => Result): Result {
  return withReader({ tenant: actor.tenant, signal: null }, work);
}

export function masked(result: ExecutionResult, mask: (error: unknown) => GraphQLError): ExecutionResult {
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
