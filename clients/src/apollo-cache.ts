import type { FieldPolicy, TypePolicies } from "@apollo/client/cache";
import { CONNECTIONS, KEYLESS, POSSIBLE_TYPES } from "./generated/schema.ts";

/** The types that each interface and union of the contract stands for: `new InMemoryCache({ possibleTypes, typePolicies })`. */
export const possibleTypes: Record<string, string[]> = POSSIBLE_TYPES;

type Page = {
  readonly nodes?: readonly unknown[];
  readonly edges?: readonly unknown[];
  readonly pageInfo?: Readonly<Record<string, unknown>>;
};

const PAGING = new Set(["first", "after", "last", "before"]);

/** Pages of one connection under one key. A page that goes on where the kept ones end is joined to them; any other stands for itself. */
const CONNECTION: FieldPolicy<Page> = {
  keyArgs: (args) => Object.keys(args ?? {}).filter((name) => !PAGING.has(name)),
  merge: (kept, page, { args }) => {
    const { startCursor, hasPreviousPage, endCursor, hasNextPage } = kept?.pageInfo ?? {};
    if (kept === undefined || page.pageInfo === undefined) return page;
    if (typeof args?.["after"] === "string" && args["after"] === endCursor)
      return { ...joined(kept, page, page), pageInfo: { ...page.pageInfo, startCursor, hasPreviousPage } };
    if (typeof args?.["before"] === "string" && args["before"] === startCursor)
      return { ...joined(page, kept, page), pageInfo: { ...page.pageInfo, endCursor, hasNextPage } };
    return page;
  },
};

function joined(earlier: Page, later: Page, page: Page): Page {
  return {
    ...page,
    ...(page.nodes === undefined ? {} : { nodes: [...(earlier.nodes ?? []), ...(later.nodes ?? [])] }),
    ...(page.edges === undefined ? {} : { edges: [...(earlier.edges ?? []), ...(later.edges ?? [])] }),
  };
}

/** How the cache keeps the contract's types: objects without an id belong to the object that has them, pages of a connection are joined. */
export const typePolicies: TypePolicies = {
  ...Object.fromEntries(KEYLESS.map((name) => [name, { merge: true }])),
  ...Object.fromEntries(
    Object.entries(CONNECTIONS).map(([name, fields]) => [
      name,
      {
        ...(KEYLESS.includes(name) ? { merge: true } : {}),
        fields: Object.fromEntries(fields.map((field) => [field, CONNECTION])),
      },
    ]),
  ),
};
