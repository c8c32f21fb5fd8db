import { GraphQLError, parse, type DocumentNode, type ParseOptions, type Source } from "graphql";
import type { Plugin } from "graphql-yoga";
import { LRUCache } from "lru-cache";
import { nodeBudget } from "./node-budget.ts";
import { clientError } from "../resolvers/errors.ts";

/** The bounds of a document: more is refused before it is parsed, or as soon as that is seen. Variables do not count. */
const MOST = { bytes: 100 * 1024, tokens: 5_000 };

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
  onValidate: ({ addValidationRule }) => addValidationRule(nodeBudget),
  onParse: ({ setParseFn }) => {
    setParseFn((source: string | Source, options?: ParseOptions) => {
      const text = typeof source === "string" ? source : source.body;
      if (text.length > MOST.bytes) throw tooLarge(`the document has ${text.length} characters, and ${MOST.bytes} are the most`);
      try {
        return parse(source, { ...options, maxTokens: MOST.tokens });
      } catch (error) {
        if (error instanceof GraphQLError && /more than \d+ tokens/.test(error.message))
          throw tooLarge(`the document has more than ${MOST.tokens} tokens`);
        if (error instanceof GraphQLError) throw unparsed(error);
        throw error;
      }
    });
  },
};

/** A syntax error with the code by which clients tell it apart; with HTTP's status as yoga sets it for what does not validate. */
function unparsed({ message, source, positions }: GraphQLError): GraphQLError {
  const extensions = { code: "GRAPHQL_PARSE_FAILED", http: { spec: true, status: 400 } };
  return new GraphQLError(message, { source: source ?? null, positions: positions ?? null, extensions });
}

function tooLarge(problem: string): GraphQLError {
  return clientError("DOCUMENT_TOO_LARGE", `${problem}: ask in several operations, and pass values as variables`);
}
