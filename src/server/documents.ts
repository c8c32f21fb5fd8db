import {
  GraphQLError,
  Kind,
  parse,
  validate,
  visit,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  type NameNode,
  type ParseOptions,
  type SelectionSetNode,
  type Source,
  type ValidationRule,
} from "graphql";
import type { Plugin } from "graphql-yoga";
import { LRUCache } from "lru-cache";
import { clientError } from "../resolvers/context.ts";

/**
 * The bounds of a document, checked before it is parsed or validated. `comparisons`: validation compares every two
 * fields of one name, and every two fragments, in one place. `spread`: the selections of all definitions, those of
 * fragments once for every spread. Variables do not count. The full introspection query has 184 tokens and no alias; a
 * document with all fields at each event kind compares some 18,000 times.
 */
export const MOST = {
  characters: 100 * 1024,
  tokens: 3_000,
  aliases: 100,
  comparisons: 40_000,
  spread: 10_000,
  introspections: 2,
};

/** Two fragments of one place are compared field by field, which costs as much as so many fields. */
const FRAGMENTS = 4;

const PROBLEMS = 10;

/** The memory for parsed documents, and the estimated part per character of a document's text; bytes. */
const CACHE_BYTES = 32 * 1024 * 1024;
const BYTES_PER_CHARACTER = 64;

/** The most recently used parsed documents, and the problems of others, within CACHE_BYTES. */
export function documentCaches() {
  const cache = <Value extends object>(share: number): LRUCache<string, Value> =>
    new LRUCache({
      maxSize: Math.floor(CACHE_BYTES * share),
      sizeCalculation: (_value, text) => (text.length + 1) * BYTES_PER_CHARACTER,
    });
  return { documentCache: cache<DocumentNode>(0.9), errorCache: cache<Error>(0.1) };
}

export const boundedDocuments: Plugin = {
  onValidate: ({ setValidationFn }) =>
    setValidationFn((schema: GraphQLSchema, document: DocumentNode, rules?: readonly ValidationRule[]) =>
      validate(schema, document, rules, { maxErrors: PROBLEMS }),
    ),
  onParse: ({ setParseFn }) => setParseFn(parseBounded),
};

export function parseBounded(source: string | Source, options?: ParseOptions): DocumentNode {
  const text = typeof source === "string" ? source : source.body;
  if (text.length > MOST.characters)
    throw tooLarge(`the document has ${text.length} characters; at most ${MOST.characters} are allowed`);
  const document = parsed(source, options);
  refuseCycles(document);
  const { aliases, introspections, comparisons, spread } = countsOf(document);
  if (aliases > MOST.aliases) throw tooLarge(`the document has ${aliases} aliases; at most ${MOST.aliases} are allowed`);
  if (introspections > MOST.introspections)
    throw tooLarge(`the document introspects ${introspections} times; at most ${MOST.introspections} are allowed`);
  if (spread > MOST.spread)
    throw tooLarge(`the document has more than ${MOST.spread} selections, including those of its fragments`);
  if (comparisons > MOST.comparisons)
    throw tooLarge(
      `the document selects fields of the same name in one place too often: at most ${MOST.comparisons} comparisons are allowed`,
    );
  return document;
}

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

type Counts = Readonly<Record<"aliases" | "introspections" | "comparisons" | "spread", number>>;

/** Counts the bounded figures of a document, until one bound is exceeded. */
export function countsOf(document: DocumentNode): Counts {
  let aliases = 0;
  let introspections = 0;
  visit(document, {
    Field: ({ alias, name }) => {
      if (alias !== undefined) aliases += 1;
      if (isIntrospection(name)) introspections += 1;
    },
  });
  return { aliases, introspections, ...comparisonsOf(document) };
}

/** True for the fields that query the schema: their selections have no price. */
export function isIntrospection({ value }: NameNode): boolean {
  return value === "__schema" || value === "__type";
}

/**
 * The comparisons of the rule OverlappingFieldsCanBeMerged. They are those of every two fields of one name in one
 * place, whose selections form one place again. Every two fragments of one place count for more. Ends when either bound
 * is exceeded.
 */
function comparisonsOf({ definitions }: DocumentNode): Pick<Counts, "comparisons" | "spread"> {
  const fragments = new Map(
    definitions.flatMap((each) => (each.kind === Kind.FRAGMENT_DEFINITION ? [[each.name.value, each] as const] : [])),
  );
  let comparisons = 0;
  let spread = 0;
  const isOver = (): boolean => spread > MOST.spread || comparisons > MOST.comparisons;
  const open: (readonly SelectionSetNode[])[] = definitions.flatMap((each) =>
    "selectionSet" in each ? [[each.selectionSet]] : [],
  );
  for (let sets = open.pop(); sets !== undefined && !isOver(); sets = open.pop()) {
    const places = new Map<string, SelectionSetNode[]>();
    const times = new Map<string, number>();
    const { fields, spreads } = placeOf(sets, fragments);
    comparisons += (FRAGMENTS * spreads * (spreads - 1)) / 2;
    for (const field of fields) {
      spread += 1;
      const name = (field.alias ?? field.name).value;
      const before = times.get(name) ?? 0;
      comparisons += before;
      times.set(name, before + 1);
      if (isOver()) break;
      if (field.selectionSet === undefined) continue;
      const place = places.get(name);
      if (place === undefined) places.set(name, [field.selectionSet]);
      else place.push(field.selectionSet);
    }
    open.push(...places.values());
  }
  return { comparisons, spread };
}

/** Throws if a fragment spreads itself: a traversal would never end. */
function refuseCycles({ definitions }: DocumentNode): void {
  const spreads = new Map<string, string[]>();
  for (const each of definitions) {
    if (each.kind !== Kind.FRAGMENT_DEFINITION) continue;
    const names: string[] = [];
    visit(each, { FragmentSpread: ({ name }) => void names.push(name.value) });
    spreads.set(each.name.value, names);
  }
  const done = new Set<string>();
  for (const start of spreads.keys()) {
    const path: { readonly name: string; readonly left: string[] }[] = [{ name: start, left: [...(spreads.get(start) ?? [])] }];
    for (let last = path.at(-1); last !== undefined; last = path.at(-1)) {
      const next = last.left.pop();
      if (next === undefined) {
        done.add(last.name);
        path.pop();
      } else if (path.some(({ name }) => name === next)) throw cyclic(next);
      else if (!done.has(next) && spreads.has(next)) path.push({ name: next, left: [...(spreads.get(next) ?? [])] });
    }
  }
}

/** The fields of one place, including those of inline fragments and spread fragments, and their number. */
function placeOf(
  sets: readonly SelectionSetNode[],
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): { readonly fields: readonly FieldNode[]; readonly spreads: number } {
  const open = [...sets];
  const fields: FieldNode[] = [];
  const known = new Set<string>();
  for (let set = open.pop(); set !== undefined; set = open.pop()) {
    for (const selection of set.selections) {
      switch (selection.kind) {
        case Kind.FIELD:
          fields.push(selection);
          break;
        case Kind.INLINE_FRAGMENT:
          open.push(selection.selectionSet);
          break;
        case Kind.FRAGMENT_SPREAD: {
          const { value } = selection.name;
          const fragment = known.has(value) ? undefined : fragments.get(value);
          known.add(value);
          if (fragment !== undefined) open.push(fragment.selectionSet);
        }
      }
    }
  }
  return { fields, spreads: known.size };
}

/** A syntax error with a code for clients, and with the HTTP status that yoga sets for validation errors. */
function unparsed({ message, source, positions }: GraphQLError): GraphQLError {
  const extensions = { code: "GRAPHQL_PARSE_FAILED", http: { spec: true, status: 400 } };
  return new GraphQLError(message, { source: source ?? null, positions: positions ?? null, extensions });
}

function cyclic(name: string): GraphQLError {
  const extensions = { code: "GRAPHQL_VALIDATION_FAILED", http: { spec: true, status: 400 } };
  return new GraphQLError(`the fragment ${name} spreads itself, which is not allowed: select nested fields explicitly`, {
    extensions,
  });
}

function tooLarge(problem: string): GraphQLError {
  return clientError("DOCUMENT_TOO_LARGE", `${problem}: split it into several operations, and pass values as variables`);
}
