import type { FieldPolicy, TypePolicies } from "@apollo/client/cache";
import { CONNECTIONS } from "./generated/schema.ts";

type Answer = {
  readonly nodes?: readonly unknown[];
  readonly edges?: readonly unknown[];
  readonly pageInfo?: Readonly<Record<string, unknown>>;
};

/** The arguments that say which rows of a connection a page has. */
const SPAN = ["first", "after", "last", "before"] as const;
type Span = { readonly [Name in (typeof SPAN)[number]]: unknown };

type Page = { readonly span: Span; readonly answer: Answer };

/**
 * The pages of a connection, each kept as it was answered. A list is the page that is asked for with all that join it: those
 * that `fetchMore` asked for `after` its end or `before` its start. A page that is not there is asked of the server.
 */
const CONNECTION: FieldPolicy<readonly Page[], Answer, Answer | undefined> = {
  keyArgs: (args) =>
    Object.keys(args ?? {})
      .filter((name) => !SPAN.some((own) => own === name))
      .toSorted(),
  read: (pages = [], { args }) => {
    const asked = pageOf(pages, spanOf(args));
    return asked && listOf(chainOf(pages, asked));
  },
  merge: (pages = [], answer, { args }) => {
    const span = spanOf(args);
    const before = pageOf(pages, span);
    const isJoined = span.after !== null || span.before !== null;
    if (before !== undefined && hasSameRows(before.answer, answer))
      return pages.map((page) => (page === before ? { span, answer: joinedAnswers(page.answer, answer) } : page));
    // A list that is asked for again begins again.
    const gone = before === undefined ? [] : isJoined ? [before] : chainOf(pages, before);
    return [...pages.filter((page) => !gone.includes(page)), { span, answer }];
  },
};

function spanOf(args: Readonly<Record<string, unknown>> | null): Span {
  const { first = null, after = null, last = null, before = null } = args ?? {};
  return { first, after, last, before };
}

function pageOf(pages: readonly Page[], span: Span): Page | undefined {
  return pages.find((page) => SPAN.every((name) => page.span[name] === span[name]));
}

/** The pages that join this one, in order, with itself. Those that leave out rows between themselves and it do not join. */
function chainOf(pages: readonly Page[], begun: Page): readonly Page[] {
  const chain = [begun];
  const add = (next: (page: Page) => boolean, place: "before" | "after"): void => {
    const found = pages.find((page) => !chain.includes(page) && next(page));
    if (found === undefined) return;
    if (place === "after") chain.push(found);
    else chain.unshift(found);
    add(next, place);
  };
  add(({ span }) => span.after !== null && span.last === null && span.after === cursorAt("end", chain), "after");
  add(({ span }) => span.before !== null && span.first === null && span.before === cursorAt("start", chain), "before");
  return chain;
}

/** The cursor at which a list ends or starts: pages without rows have none. */
function cursorAt(side: "start" | "end", chain: readonly Page[]): unknown {
  const cursors = chain.map(({ answer }) => answer.pageInfo?.[`${side}Cursor`] ?? null).filter((cursor) => cursor !== null);
  return cursors.at(side === "start" ? 0 : -1);
}

/** The list of the pages. All that is not of its rows is of the page that was there first, such as the place in the log. */
function listOf(chain: readonly Page[]): Answer {
  const [first, last] = [chain[0], chain.at(-1)];
  const oldest = chain.find(({ span }) => span.after === null && span.before === null) ?? chain[0];
  if (first === undefined || last === undefined || oldest === undefined || chain.length === 1) return { ...first?.answer };
  const rows = (name: "nodes" | "edges"): Answer => {
    const lists = chain.map(({ answer }) => answer[name]);
    // Pages that do not have what the list has are not passed over in silence: it is asked for again.
    return lists.includes(undefined) ? {} : { [name]: lists.flat() };
  };
  const { nodes: _nodes, edges: _edges, ...others } = oldest.answer;
  return {
    ...others,
    ...rows("nodes"),
    ...rows("edges"),
    pageInfo: {
      ...oldest.answer.pageInfo,
      startCursor: cursorAt("start", chain) ?? null,
      hasPreviousPage: first.answer.pageInfo?.["hasPreviousPage"],
      endCursor: cursorAt("end", chain) ?? null,
      hasNextPage: last.answer.pageInfo?.["hasNextPage"],
    },
  };
}

function hasSameRows(one: Answer, other: Answer): boolean {
  const [some, same] = [one.pageInfo, other.pageInfo];
  return (
    some !== undefined &&
    same !== undefined &&
    some["startCursor"] === same["startCursor"] &&
    some["endCursor"] === same["endCursor"]
  );
}

/** The answers of two queries to one page: what both select is of the newer one. */
function joinedAnswers(older: Answer, newer: Answer): Answer {
  return { ...older, ...newer, pageInfo: { ...older.pageInfo, ...newer.pageInfo } };
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
