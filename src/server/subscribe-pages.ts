import {
  createSourceEventStream,
  executeSubscriptionEvent,
  Kind,
  validateSubscriptionArgs,
  visit,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLError,
} from "graphql";
import { isAsyncIterable } from "graphql-yoga";
import { readFor } from "../db/connections/reader-limits.ts";
import type { Line } from "../events/following/line.ts";
import { isNotice } from "../resolvers/timeline.ts";
import { visibleCreator } from "../resolvers/visibility.ts";
import type { Admission } from "../resolvers/admission.ts";
import type { Context, Reader } from "../resolvers/context.ts";
import { shownAs } from "./admissions.ts";
import { ownPageContext, sharedPageContext } from "./context.ts";
import { boundedAnswer } from "./errors.ts";

type Validated = Extract<ReturnType<typeof validateSubscriptionArgs>, { readonly schema: unknown }>;
type Answer = Promise<ExecutionResult>;

/** The answers of a subscription, or why there are none. */
export type Subscribed = Promise<ExecutionResult | AsyncIterableIterator<ExecutionResult>>;

/** The function that subscribes, on every transport. */
export type Subscribe = (args: ExecutionArgs) => Subscribed;

/** Subscribes, and calls `ended` when nothing more comes of the answers, or nobody reads on. */
export type SubscribePages = (args: ExecutionArgs, ended: () => void) => Subscribed;

/**
 * A page in the place of one that needs rows while the database is away: a page that says so, null if there is no
 * outage, and the end of it.
 */
export type WaitWhileUnavailable = (
  context: Context,
  page: object,
) => Promise<{ readonly notice: object | null; readonly over: () => Promise<void> }>;

/** A page that the database does not answer for is tried so often, each time when the outage is over. */
const TRIES = 20;

/**
 * Answers subscriptions page by page. Subscribers who are given the same page, ask for the same of it and may see the
 * same share one execution: it is done in a context without an actor. If a page cannot be answered as a whole, the
 * subscription ends after it: going on would skip that page silently, since the client has no cursor of it, and would
 * take the next one for its continuation (invariant 2). Errors are shown as `mask` makes them.
 */
export function subscribePages(
  mask: (error: unknown) => GraphQLError,
  waitWhileUnavailable: WaitWhileUnavailable,
): SubscribePages {
  return async (args, ended) => {
    const validated = validateSubscriptionArgs(args);
    if (!("schema" in validated)) return { errors: validated };
    const context = args.contextValue as SubscriberContext;
    const answering = answeringOf(args, validated, mask);
    const contextValue = { ...context, reader: readerOf(context, answering) };
    const source = await readAsOne(context, () => createSourceEventStream({ ...validated, contextValue }));
    if (!isAsyncIterable<object>(source)) return masked(source as ExecutionResult, mask);
    return answers(
      source[Symbol.asyncIterator](),
      answering.answer,
      mask,
      (page) => waitWhileUnavailable(context, page),
      context.admission,
      ended,
    );
  };
}

/** The context of a subscription, with the way to its reader, if the transport has one that many can share. */
type SubscriberContext = Context & { readonly line?: () => Line };

/** The reader of a subscription that many may ask for alike; null for one who is answered alone. */
function readerOf({ line, admission }: SubscriberContext, { key, isShared, answer }: Answering): Reader | null {
  if (line === undefined || !isShared) return null;
  return {
    asks: key,
    answer: async (page) => {
      const value = await answer(page);
      return isFailed(value) ? null : Buffer.from(JSON.stringify(value));
    },
    admission,
    line: line(),
  };
}

/**
 * Does `work` as one of a tenant's readers, who is given no more than others, and reads no more at once than any operation.
 * Nobody leaves a page: it is everybody's who follows.
 */
function readAsOne<Result>({ actor }: Context, work: () => Result): Result {
  return readFor({ tenant: actor.tenant, signal: null }, work);
}

/** `return()` goes straight to the source, since a generator that waits would not hear it. */
function answers(
  source: AsyncIterator<object>,
  execute: (page: object) => Answer,
  mask: (error: unknown) => GraphQLError,
  waitWhileUnavailable: (page: object) => ReturnType<WaitWhileUnavailable>,
  admission: Admission,
  ended: () => void,
): AsyncIterableIterator<ExecutionResult> {
  let hasFailed = false;
  /** A page whose answer needs the database, which is away. */
  let held: { readonly page: object; readonly tries: number; readonly isTold: boolean } | null = null;
  const leave = async (): Promise<void> => {
    ended();
    await source.return?.();
  };
  const fail = async (value: ExecutionResult): Promise<IteratorYieldResult<ExecutionResult>> => {
    hasFailed = true;
    await leave();
    return { done: false, value };
  };
  return {
    async next() {
      if (hasFailed) return { done: true, value: undefined };
      try {
        for (;;) {
          const next: IteratorResult<object> = held === null ? await source.next() : { done: false, value: held.page };
          if (next.done === true) {
            ended();
            return { done: true, value: undefined };
          }
          const page = next.value;
          const value = await execute(page);
          const { tries, isTold } = held ?? { tries: 0, isTold: false };
          if (isUnavailable(value) && tries < TRIES) {
            const { notice, over } = await waitWhileUnavailable(page);
            held = { page, tries: tries + 1, isTold: isTold || notice !== null };
            if (notice !== null && !isTold) return { done: false, value: await execute(notice) };
            await over();
            // The source says why nothing more is shown.
            if (!(await admission.refreshed())) held = null;
            continue;
          }
          held = null;
          // Rights may have grown old while the page was answered, or its reader took nothing.
          if (!isNotice(page) && !admission.isFresh()) await admission.refreshed();
          // The source says why nothing more is shown.
          if (admission.isRefused()) continue;
          if (!isFailed(value)) return { done: false, value };
          return await fail({ data: null, errors: value.errors?.slice(0, 1) ?? [] });
        }
      } catch (error) {
        return fail({ errors: [shownAs(mask(error), error)] });
      }
    },
    async return() {
      await leave();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/**
 * The answers to a page, under way or done, for as long as somebody holds the page. The page has them itself, and a copy of it does
 * not. V8 would keep them until it collects the whole heap if they were in a WeakMap by their page, since the page is a value of a
 * WeakMap, too (docs/adr/0026).
 */
const ANSWERS = Symbol("answers");
type AnsweredPage = { readonly [ANSWERS]?: Map<string, Answer> };

function answersOf(page: AnsweredPage): Map<string, Answer> {
  const answers = page[ANSWERS] ?? new Map<string, Answer>();
  if (page[ANSWERS] === undefined) Object.defineProperty(page, ANSWERS, { value: answers });
  return answers;
}

/** The answers to pages for a subscriber, and for all who ask as they do, if there may be others. */
type Answering = {
  /** The same for all who are given the same answer to the same page. */
  readonly key: string;
  readonly isShared: boolean;
  readonly answer: (page: object) => Answer;
};

function answeringOf(
  { document, operationName, variableValues, contextValue }: ExecutionArgs,
  validated: Validated,
  mask: (error: unknown) => GraphQLError,
): Answering {
  const context = contextValue as Context;
  const { number, variables, asksWhoAsks } = askedOf(document);
  const given = Object.entries(variableValues ?? {}).filter(([name]) => variables.has(name));
  const key = JSON.stringify([
    number,
    operationName ?? null,
    given,
    context.actor.tenant,
    visibleCreator(context.actor),
    asksWhoAsks ? (subscribers += 1) : null,
  ]);
  const execute = async (page: object, known: Map<string, Answer>): Promise<ExecutionResult> => {
    let isWhole = false;
    try {
      const answering = {
        ...validated,
        rootValue: page,
        contextValue: asksWhoAsks ? ownPageContext(context) : sharedPageContext(context),
      };
      const result = await readAsOne(context, async () => executeSubscriptionEvent(answering));
      const answer = boundedAnswer(masked(result, mask));
      isWhole = answer.errors === undefined;
      return answer;
    } finally {
      // Whoever comes back for a page that failed is answered anew.
      if (!isWhole) known.delete(key);
    }
  };
  const answer = (page: object): Answer => {
    const known = answersOf(page);
    const answered = known.get(key) ?? execute(page, known);
    known.set(key, answered);
    return answered;
  };
  return { key, isShared: !asksWhoAsks, answer };
}

function isUnavailable({ errors }: ExecutionResult): boolean {
  return errors?.some(({ extensions }) => extensions["code"] === "STORAGE_UNAVAILABLE") === true;
}

/** Also where only a part of the page is missing: whoever went on behind it would never see that part. */
function isFailed({ data, errors }: ExecutionResult): boolean {
  return data === null || data === undefined || errors !== undefined;
}

function masked(result: ExecutionResult, mask: (error: unknown) => GraphQLError): ExecutionResult {
  return result.errors === undefined ? result : { ...result, errors: result.errors.map(mask) };
}

/** The number of subscribers so far whose documents depend on who asks: their pages are shared with nobody. */
let subscribers = 0;

type Asked = { readonly number: number; readonly variables: ReadonlySet<string>; readonly asksWhoAsks: boolean };
const asked = new WeakMap<DocumentNode, Asked>();
let documents = 0;

/**
 * A number for the document; the variables that reach a page: all but those of the root field's arguments, which choose the
 * pages; and whether it selects a field whose answer depends on who asks: their names begin with `viewer`.
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

/** True if the path leads from the operation straight to a field. */
function isOfRootField(ancestors: readonly unknown[]): boolean {
  const kinds = ancestors.flatMap((ancestor) =>
    typeof ancestor === "object" && ancestor !== null && "kind" in ancestor ? [ancestor.kind] : [],
  );
  return String(kinds) === String([Kind.DOCUMENT, Kind.OPERATION_DEFINITION, Kind.SELECTION_SET, Kind.FIELD]);
}
