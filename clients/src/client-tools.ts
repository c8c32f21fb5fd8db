import type { Conversation, ConversationItem } from "./conversation.ts";

/** A call of a client tool that waits for an answer. */
export type ClientCall = {
  /** As in `completeToolCall`. */
  readonly callId: string;
  readonly name: string;
  /** In the form of the tool's `inputSchema`. */
  readonly input: unknown;
  readonly dueAt: string | null;
};

/** A call that is being answered. The signal aborts when it ends in another way: in another tab, or by its time. */
export type AnsweredCall = ClientCall & { readonly signal: AbortSignal };

/** Returns a result, any JSON; undefined stands for null. An exception becomes the error of the call. */
export type ClientToolHandler = { handle(input: unknown, call: AnsweredCall): unknown }["handle"];

/** The input of the mutation `completeToolCall`. */
export type ClientToolAnswer = { readonly callId: string; readonly idempotencyKey: string } & (
  { readonly result: unknown } | { readonly error: string }
);

/** The fields of an event that are read: CONVERSATION selects them, except `agent`. */
export type ClientToolEvent = {
  readonly __typename: string;
  readonly agent?: { readonly id: string } | null;
  readonly waitsFor?: string;
  readonly dueAt?: string | null;
  readonly call?: { readonly callId: string; readonly name: string } | null;
  readonly toolCall?: { readonly input: unknown } | null;
};

export type ClientToolPage = { readonly caughtUp: boolean; readonly events: readonly ClientToolEvent[] };

export type ClientToolOptions = {
  /** The handlers, by the names of their tools. Calls of other tools are left to other clients. */
  readonly handlers: Readonly<Record<string, ClientToolHandler>>;
  /** Sends the mutation `completeToolCall`, and returns its `userErrors`. If it rejects, the answer is sent again. */
  readonly complete: (answer: ClientToolAnswer) => Promise<readonly { readonly code: string; readonly message: string }[]>;
  /** Receives exceptions of handlers, refused answers (AnswerRefused), and each failure to send one. Ignored if omitted. */
  readonly onError?: (error: unknown, call: ClientCall) => void;
  /** For a timeline of several agents that selects `agent { id }`: the only agent whose calls are answered. */
  readonly agentId?: string;
  /** The wait before an answer is sent again, in ms: 0.25 s, doubled up to 10 s, if omitted. */
  readonly waitMs?: (failures: number) => number;
};

/** The server refused an answer. With every code except CALL_ENDED, the call still waits. */
export class AnswerRefused extends Error {
  override readonly name = "AnswerRefused";
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export type ClientTools = {
  /** Takes the next page of a timeline. Pages may repeat. */
  readonly take: (page: ClientToolPage) => void;
  /** Takes calls that waited when the tab opened, for a timeline that begins at that moment. */
  readonly open: (calls: readonly (ClientCall & { readonly waitsFor: string | null })[]) => void;
  /** Takes the conversation of `useTimeline` after each change, in place of `take` and `open`. */
  readonly follow: (conversation: Pick<Conversation, "items" | "caughtUp">) => void;
  /** Aborts all handlers. Their calls still wait. */
  readonly close: () => void;
};

/**
 * Answers calls of client tools, each once: neither a reload nor a lost connection answers a call again, or one that has
 * ended. Several tabs may run the handler of a call: the first answer counts, and the signals of the others abort.
 */
export function answerClientTools(options: ClientToolOptions): ClientTools {
  const { handlers, agentId } = options;
  const ends = new Map<string, AbortController>();
  /** The calls of the past that have not ended so far: they are answered once the timeline is caught up. */
  const held = new Map<string, ClientCall>();
  let isClosed = false;
  const endOf = (callId: string): AbortController => {
    const end = ends.get(callId) ?? new AbortController();
    ends.set(callId, end);
    return end;
  };
  const answer = (call: ClientCall): void => {
    const handler = Object.hasOwn(handlers, call.name) ? handlers[call.name] : undefined;
    if (isClosed || handler === undefined || ends.has(call.callId)) return;
    void answered({ ...call, signal: endOf(call.callId).signal }, handler, options);
  };
  return {
    take({ events, caughtUp }) {
      for (const event of events) {
        if (agentId !== undefined && event.agent?.id !== agentId) continue;
        const call = openedBy(event);
        if (call !== null) held.set(call.callId, call);
        const ended = event.__typename === "ToolEnd" ? event.call : null;
        if (ended == null || !Object.hasOwn(handlers, ended.name)) continue;
        held.delete(ended.callId);
        endOf(ended.callId).abort();
      }
      if (!caughtUp) return;
      for (const call of held.values()) answer(call);
      held.clear();
    },
    open(calls) {
      for (const { waitsFor, callId, name, input, dueAt } of calls)
        if (waitsFor === "CLIENT_TOOL") answer({ callId, name, input, dueAt });
    },
    follow({ items, caughtUp }) {
      if (!caughtUp) return;
      const calls = items.flatMap((item) => (item.kind === "tool" && item.toAnswer !== null ? [callOf(item)] : []));
      const open = new Set(calls.map(({ callId }) => callId));
      for (const [callId, end] of ends) if (!open.has(callId)) end.abort();
      for (const call of calls) answer(call);
    },
    close() {
      isClosed = true;
      for (const end of ends.values()) end.abort();
    },
  };
}

/** The call that an event hands out; null for other events. */
function openedBy({ __typename, waitsFor, dueAt, call, toolCall }: ClientToolEvent): ClientCall | null {
  if (__typename !== "ToolWaiting" || waitsFor !== "CLIENT_TOOL" || call == null || toolCall == null) return null;
  return { callId: call.callId, name: call.name, input: toolCall.input, dueAt: dueAt ?? null };
}

function callOf({ call: { callId, name }, toAnswer }: Extract<ConversationItem, { readonly kind: "tool" }>): ClientCall {
  return { callId, name, input: toAnswer?.input ?? null, dueAt: toAnswer?.dueAt ?? null };
}

async function answered(
  { signal, ...call }: AnsweredCall,
  handler: ClientToolHandler,
  { complete, onError = () => {}, waitMs = (failures) => Math.min(250 * 2 ** failures, 10_000) }: ClientToolOptions,
): Promise<void> {
  const given = await givenBy(() => handler(call.input, { ...call, signal }));
  if (signal.aborted) return;
  if ("cause" in given) onError(given.cause, call);
  const said = "cause" in given ? { error: errorText(given.cause) } : given;
  const answer = { callId: call.callId, idempotencyKey: randomKey(), ...said };
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      const refusals = await complete(answer);
      const [refusal] = refusals;
      if (refusal === undefined || refusal.code === "CALL_ENDED") return;
      onError(new AnswerRefused(refusal.code, refusals.map(({ message }) => message).join("\n")), call);
      // Another server may have the tool.
      if (refusal.code !== "UNAVAILABLE") return;
    } catch (error) {
      if (!signal.aborted) onError(error, call);
    }
    await pause(waitMs(failures), signal);
  }
}

/** The result as JSON, or the exception of the handler. */
async function givenBy(handle: () => unknown): Promise<{ readonly result: unknown } | { readonly cause: unknown }> {
  try {
    const text = JSON.stringify((await handle()) ?? null);
    return { result: text === undefined ? null : JSON.parse(text) };
  } catch (cause) {
    return { cause };
  }
}

function errorText(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)) || "the client failed";
}

/** Pages that are no secure context have no `randomUUID`. */
function randomKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
    signal.addEventListener("abort", done);
  });
}
