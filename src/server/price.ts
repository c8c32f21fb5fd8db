import {
  getNullableType,
  getOperationAST,
  getVariableValues,
  isInputObjectType,
  isInputType,
  isListType,
  Kind,
  typeFromAST,
  TypeInfo,
  visit,
  visitWithTypeInfo,
  type DocumentNode,
  type ExecutionArgs,
  GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type ExecutionResult,
} from "graphql";
import type { Plugin } from "graphql-yoga";
import { clientError, type Context } from "../resolvers/context.ts";
import { operationSize } from "../schema/price.ts";
import { isIntrospection } from "./documents.ts";

/**
 * The bounds of one operation: price, depth, and selections with fragments spread. They are checked with known
 * variables. Each field's price is declared with the field (src/schema/price.ts).
 */
export const MOST = { price: 50_000, depth: 20, selections: 5_000 };

/** The most entries of a list in a variable or in the document: each is coerced, and read from the database. */
const MOST_ENTRIES = 1_000;

type PricedArgs = Pick<ExecutionArgs, "schema" | "document" | "operationName" | "variableValues">;

const PROBLEM_CHARACTERS = 1_000;

/**
 * The price of an operation, in points. Throws a typed error if a bound is exceeded, or if its variables are invalid:
 * then it does not run.
 */
export function priceOf({ schema, document, operationName, variableValues }: PricedArgs): number {
  const operation = getOperationAST(document, operationName);
  if (operation === null || operation === undefined) return 0;
  const variables = { ...variableValues };
  refuseLongLists(schema, operation, variables);
  const { errors, variableValues: values = null } = getVariableValues(
    schema,
    operation.variableDefinitions ?? [],
    variables,
    ONE_PROBLEM,
  );
  if (errors?.[0] !== undefined) throw clientError("BAD_USER_INPUT", errors[0].message.slice(0, PROBLEM_CHARACTERS));
  const { query, introspections, longestList } = pricedDocument(schema, document, operation);
  if (longestList > MOST_ENTRIES) throw tooLong("a list of the document", longestList);
  const { price: rows, depth, selections } = operationSize(schema, query, values);
  const price = rows + introspections * INTROSPECTION;
  if (depth > MOST.depth) throw tooLarge(`the operation is nested ${depth} levels deep; at most ${MOST.depth} are allowed`);
  if (selections > MOST.selections)
    throw tooLarge(
      `the operation has ${selections} selections, including those of its fragments; at most ${MOST.selections} are allowed`,
    );
  if (price > MOST.price) throw tooLarge(`the operation costs ${price} points; at most ${MOST.price} are allowed`);
  return price;
}

/** Every problem of a variable repeats its value: thousands of problems would take quadratic space. */
const ONE_PROBLEM = { maxErrors: 1, hideSuggestions: true };

/** The price of the schema: a large introspection takes some 50 ms. */
const INTROSPECTION = 1_000;

type PricedDocument = { readonly query: DocumentNode; readonly introspections: number; readonly longestList: number };

const known = new WeakMap<OperationDefinitionNode, PricedDocument>();

function pricedDocument(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode): PricedDocument {
  const before = known.get(operation);
  if (before !== undefined) return before;
  const definitions = document.definitions.filter((each) => each === operation || each.kind === Kind.FRAGMENT_DEFINITION);
  let introspections = 0;
  let longestList = 0;
  const types = new TypeInfo(schema);
  const query: DocumentNode = visit(
    { kind: Kind.DOCUMENT, definitions },
    visitWithTypeInfo(types, {
      Field: ({ name }) => {
        if (isIntrospection(name)) introspections += 1;
        return name.value === "__typename" ? null : undefined;
      },
      // Arrays within JSON are no lists of the schema.
      ListValue: ({ values }) => {
        if (isListType(getNullableType(types.getParentInputType()))) longestList = Math.max(longestList, values.length);
      },
    }),
  );
  const priced = { query, introspections, longestList };
  known.set(operation, priced);
  return priced;
}

/** Throws if a list in the variables has too many entries, before they are coerced. JSON is checked by its scalar. */
function refuseLongLists(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): void {
  for (const { variable, type } of variableDefinitions) {
    const { value: name } = variable.name;
    const declared = typeFromAST(schema, type);
    if (isInputType(declared)) refuseLongList(declared, variables[name], `\`$${name}\``);
  }
}

function refuseLongList(type: GraphQLInputType, value: unknown, place: string): void {
  const given = getNullableType(type);
  if (isListType(given) && Array.isArray(value)) {
    if (value.length > MOST_ENTRIES) throw tooLong(place, value.length);
    for (const entry of value) refuseLongList(given.ofType, entry, place);
  } else if (isInputObjectType(given) && typeof value === "object" && value !== null) {
    const fields = given.getFields();
    for (const [name, entry] of Object.entries(value)) {
      const field = fields[name];
      if (field !== undefined) refuseLongList(field.type, entry, `\`${name}\` of ${place}`);
    }
  }
}

function tooLong(place: string, entries: number): GraphQLError {
  return clientError(
    "BAD_USER_INPUT",
    `${place} has ${entries} entries; a list may have at most ${MOST_ENTRIES}: split it into several operations`,
  );
}

function tooLarge(problem: string): GraphQLError {
  return clientError("DOCUMENT_TOO_LARGE", `${problem}: request smaller pages (\`first\`), or split it into several operations`);
}

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
