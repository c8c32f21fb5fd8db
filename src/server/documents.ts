import {
  GraphQLError,
  Kind,
  parse,
  validate,
  visit,
  type DocumentNode,
  type GraphQLSchema,
  type NameNode,
  type ParseOptions,
  type SelectionSetNode,
  type Source,
  type ValidationRule,
} from "graphql";
import type { Plugin } from "graphql-yoga";
import { LRUCache } from "lru-cache";
import { clientError } from "../resolvers/errors.ts";

/**
 * The bounds of a document: more is refused before it is parsed, or before it is validated, which takes time by the square of what
 * has the same name. Variables do not count. The full introspection query has 184 tokens and no alias.
 */
export const MOST = { characters: 100 * 1024, tokens: 2_500, aliases: 100, repeats: 50, introspections: 2 };

/** The problems of a document that are told: each repeats what it is about. */
const PROBLEMS = 10;

/** The room of parsed documents in memory, and about how much of it one takes for each character of its text; bytes. */
const CACHE_BYTES = 32 * 1024 * 1024;
const BYTES_PER_CHARACTER = 64;

/** Documents that were parsed, and what was wrong with others: those used last, within CACHE_BYTES. */
export function documentCaches() {
  const cache = <Value extends object>(share: number): LRUCache<string, Value> =>
    new LRUCache({
      maxSize: Math.floor(CACHE_BYTES * share),
      sizeCalculation: (_value, text) => (text.length + 1) * BYTES_PER_CHARACTER,
    });
  return { documentCache: cache<DocumentNode>(0.9), errorCache: cache<Error>(0.1) };
}

/** Refuses documents that are larger than any client needs. */
export const boundedDocuments: Plugin = {
  onValidate: ({ setValidationFn }) =>
    setValidationFn((schema: GraphQLSchema, document: DocumentNode, rules?: readonly ValidationRule[]) =>
      validate(schema, document, rules, { maxErrors: PROBLEMS }),
    ),
  onParse: ({ setParseFn }) => {
    setParseFn((source: string | Source, options?: ParseOptions) => {
      const text = typeof source === "string" ? source : source.body;
      if (text.length > MOST.characters)
        throw tooLarge(`the document has ${text.length} characters, and ${MOST.characters} are the most`);
      const document = parsed(source, options);
      const { aliases, repeats, introspections } = countsOf(document);
      if (aliases > MOST.aliases) throw tooLarge(`the document has ${aliases} aliases, and ${MOST.aliases} are the most`);
      if (introspections > MOST.introspections)
        throw tooLarge(`the document introspects ${introspections} times, and ${MOST.introspections} are the most`);
      if (repeats > MOST.repeats)
        throw tooLarge(`the document selects a field ${repeats} times in one place, and ${MOST.repeats} are the most`);
      return document;
    });
  },
};

function parsed(source: string | Source, options: ParseOptions | undefined): DocumentNode {
  try {
    return parse(source, { ...options, maxTokens: MOST.tokens });
  } catch (error) {
    if (error instanceof GraphQLError && /more than \d+ tokens/.test(error.message))
      throw tooLarge(`the document has more than ${MOST.tokens} tokens`);
    if (error instanceof GraphQLError) throw unparsed(error);
    throw error;
  }
}

/** The aliases of a document, its introspections, and how often it selects a field of one name in one place, at most: these are compared with each other. */
function countsOf(document: DocumentNode): Readonly<Record<"aliases" | "introspections" | "repeats", number>> {
  let aliases = 0;
  let introspections = 0;
  let repeats = 0;
  visit(document, {
    Field: ({ alias, name }) => {
      if (alias !== undefined) aliases += 1;
      if (isIntrospection(name)) introspections += 1;
    },
    SelectionSet: (selections, _key, parent) => {
      // What stands in an inline fragment stands in the place of that.
      if (isInlineFragment(parent)) return;
      for (const times of timesOf(selections, new Map()).values()) repeats = Math.max(repeats, times);
    },
  });
  return { aliases, introspections, repeats };
}

/** True for the fields by which a document asks for the schema itself: what is selected of it has no price of its own. */
export function isIntrospection({ value }: NameNode): boolean {
  return value === "__schema" || value === "__type";
}

function timesOf({ selections }: SelectionSetNode, times: Map<string, number>): ReadonlyMap<string, number> {
  for (const selection of selections) {
    if (selection.kind === Kind.INLINE_FRAGMENT) timesOf(selection.selectionSet, times);
    if (selection.kind !== Kind.FIELD) continue;
    const name = (selection.alias ?? selection.name).value;
    times.set(name, (times.get(name) ?? 0) + 1);
  }
  return times;
}

function isInlineFragment(parent: unknown): boolean {
  return typeof parent === "object" && parent !== null && "kind" in parent && parent.kind === Kind.INLINE_FRAGMENT;
}

/** A syntax error with the code by which clients tell it apart; with HTTP's status as yoga sets it for what does not validate. */
function unparsed({ message, source, positions }: GraphQLError): GraphQLError {
  const extensions = { code: "GRAPHQL_PARSE_FAILED", http: { spec: true, status: 400 } };
  return new GraphQLError(message, { source: source ?? null, positions: positions ?? null, extensions });
}

function tooLarge(problem: string): GraphQLError {
  return clientError("DOCUMENT_TOO_LARGE", `${problem}: ask in several operations, and pass values as variables`);
}
