import type { FieldPolicy, TypePolicies } from "@apollo/client/cache";
import { CONNECTIONS, POSSIBLE_TYPES } from "./generated/schema.ts";

/** The types that each interface and union of the contract stands for: `new InMemoryCache({ possibleTypes, typePolicies })`. */
export const possibleTypes: Record<string, string[]> = POSSIBLE_TYPES;

type Page = {
  readonly nodes?: readonly unknown[];
  readonly edges?: readonly unknown[];
  readonly pageInfo?: Readonly<Record<string, unknown>>;
};

/**
 * The pages of a connection, joined by `fetchMore`: one that begins where the kept ones end, or ends where they begin. One
 * that came before already changes nothing, and one without a cursor takes the place of what was kept.
 */
const CONNECTION: FieldPolicy<Page> = {
  keyArgs: (args) =>
    Object.keys(args ?? {})
      .filter((name) => name !== "after" && name !== "before")
      .toSorted(),
  merge: (kept, page, { args }) => {
    const { after = null, before = null } = args ?? {};
    if (kept?.pageInfo === undefined || page.pageInfo === undefined || (after === null && before === null)) return page;
    const { startCursor, hasPreviousPage, endCursor, hasNextPage } = kept.pageInfo;
    if (after !== null && after === endCursor)
      return { ...joined(kept, page, page), pageInfo: { ...page.pageInfo, startCursor, hasPreviousPage } };
    if (before !== null && before === startCursor)
      return { ...joined(page, kept, page), pageInfo: { ...page.pageInfo, endCursor, hasNextPage } };
    return kept;
  },
};

function joined(earlier: Page, later: Page, page: Page): Page {
  return {
    ...page,
    ...(page.nodes === undefined ? {} : { nodes: [...(earlier.nodes ?? []), ...(later.nodes ?? [])] }),
    ...(page.edges === undefined ? {} : { edges: [...(earlier.edges ?? []), ...(later.edges ?? [])] }),
  };
}

/** Objects without an id of which there is one for the object that has them: what two queries select of them is joined. */
const PARTS = ["AgentUsage", "RateLimit", "Viewer"];

/** The ways in which the cache keeps the contract's types: pages of a connection are joined, and so are parts of one object. */
export const typePolicies: TypePolicies = {
  ...Object.fromEntries(PARTS.map((name) => [name, { merge: true }])),
  ...Object.fromEntries(
    Object.entries(CONNECTIONS).map(([name, fields]) => [
      name,
      { fields: Object.fromEntries(fields.map((field) => [field, CONNECTION])) },
    ]),
  ),
};
