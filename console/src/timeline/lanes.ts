import type { AgentState, ChildOutcome, LanesSubscription } from "../generated/documents.ts";

export type LanesPage = LanesSubscription["timeline"];
type LaneEvent = LanesPage["events"][number];

/** Something of an agent over time; `to` is null while it goes on. Times are in ms. */
export type Span = {
  readonly kind: "step" | "call" | "wait" | "message" | "error";
  readonly key: string;
  /** The tool of a call, the number of a step, the words of an error. */
  readonly name: string;
  readonly from: number;
  readonly to: number | null;
  readonly hasFailed: boolean;
};

/** One agent over time. */
export type Lane = {
  readonly agentId: string;
  readonly templateId: string | null;
  readonly description: string;
  /** The number of agents between it and the first one. */
  readonly depth: number;
  readonly state: AgentState;
  readonly outcome: ChildOutcome | null;
  /** In the order of their ends; those that go on are the last. */
  readonly spans: readonly Span[];
};

/** The agents of a tree over time, each below the one that started it. */
export type Lanes = { readonly lanes: readonly Lane[]; readonly caughtUp: boolean };

export const NO_LANES: Lanes = { lanes: [], caughtUp: false };

/** The lanes after one more page. Pure: the same pages make the same lanes, live or after a reload. */
export function lanesAfter({ lanes }: Lanes, { events, caughtUp }: LanesPage): Lanes {
  const draft = new Draft(lanes);
  for (const event of events) take(draft, event);
  return { lanes: draft.lanes(), caughtUp };
}

type OpenLane = Omit<Lane, "spans"> & { readonly closed: Span[]; readonly open: Map<string, Span> };

/** Lanes while a page is taken into them: those without news stay the same objects. */
class Draft {
  readonly #order: string[];
  readonly #before: ReadonlyMap<string, Lane>;
  readonly #changed = new Map<string, OpenLane>();

  constructor(lanes: readonly Lane[]) {
    this.#order = lanes.map(({ agentId }) => agentId);
    this.#before = new Map(lanes.map((lane) => [lane.agentId, lane]));
  }

  /** The lane of an agent. One whose begin is no longer kept comes last. */
  of(agentId: string): OpenLane {
    const known = this.#changed.get(agentId) ?? this.#opened(agentId);
    this.#changed.set(agentId, known);
    return known;
  }

  change(agentId: string, part: Partial<Omit<Lane, "spans" | "agentId">>): void {
    this.#changed.set(agentId, { ...this.of(agentId), ...part });
  }

  add(agentId: string, span: Span): void {
    const { closed, open } = this.of(agentId);
    if (span.to === null) open.set(span.key, span);
    else closed.push(span);
  }

  end(agentId: string, key: string, to: number, hasFailed = false): void {
    const { closed, open } = this.of(agentId);
    const span = open.get(key);
    if (span === undefined) return;
    open.delete(key);
    closed.push({ ...span, to: Math.max(to, span.from), hasFailed });
  }

  spawn(parentId: string, childId: string, told: Pick<Lane, "templateId" | "description">): void {
    const { depth } = this.of(parentId);
    if (this.#order.includes(childId)) return this.change(childId, told);
    let place = this.#order.indexOf(parentId) + 1;
    while (this.#depthAt(place) > depth) place += 1;
    this.#order.splice(place, 0, childId);
    this.#changed.set(childId, { ...NEW_LANE, ...told, agentId: childId, depth: depth + 1, closed: [], open: new Map() });
  }

  lanes(): readonly Lane[] {
    return this.#order.flatMap((agentId) => {
      const changed = this.#changed.get(agentId);
      if (changed === undefined) return this.#before.get(agentId) ?? [];
      const { closed, open, ...lane } = changed;
      return { ...lane, spans: [...closed, ...open.values()] };
    });
  }

  #opened(agentId: string): OpenLane {
    const lane = this.#before.get(agentId);
    if (lane === undefined) {
      this.#order.push(agentId);
      return { ...NEW_LANE, agentId, depth: this.#order.length > 1 ? 1 : 0, closed: [], open: new Map() };
    }
    const { spans, ...rest } = lane;
    const open = spans.filter(({ to }) => to === null);
    return {
      ...rest,
      closed: spans.slice(0, spans.length - open.length),
      open: new Map(open.map((span) => [span.key, span])),
    };
  }

  #depthAt(place: number): number {
    const agentId = this.#order[place] ?? "";
    return (this.#changed.get(agentId) ?? this.#before.get(agentId))?.depth ?? -1;
  }
}

const NEW_LANE = { templateId: null, description: "", state: "READY", outcome: null } as const;

function take(draft: Draft, event: LaneEvent): void {
  const agentId = event.agent?.id;
  if (agentId === undefined) return;
  const at = Date.parse(event.timestamp);
  const moment = (kind: Span["kind"], name: string, hasFailed = false): void =>
    draft.add(agentId, { kind, key: `${kind} ${event.cursor}`, name, from: at, to: at, hasFailed });
  switch (event.__typename) {
    case "AgentCreated":
      return draft.change(agentId, { templateId: event.templateId });
    case "AgentSpawned": {
      const { childId, templateId, description } = event;
      return draft.spawn(agentId, childId, { templateId, description });
    }
    case "AgentReturned":
      return draft.change(event.childId, { outcome: event.outcome });
    case "StateChanged":
      return draft.change(agentId, { state: event.state });
    case "MessageReceived":
    case "ReminderSent":
      return moment("message", "");
    case "StepComplete": {
      const { step, durationMs } = event;
      return draft.add(agentId, {
        kind: "step",
        key: `step ${step}`,
        name: String(step),
        from: at - durationMs,
        to: at,
        hasFailed: false,
      });
    }
    case "ToolStart": {
      const { callId, name } = event.call;
      return draft.add(agentId, { kind: "call", key: callId, name, from: at, to: null, hasFailed: false });
    }
    case "ToolWaiting": {
      const { callId, name } = event.call;
      const key = `wait ${callId}`;
      return draft.add(agentId, { kind: "wait", key, name, from: at, to: null, hasFailed: false });
    }
    case "ToolEnd": {
      const { callId, state } = event.call;
      draft.end(agentId, `wait ${callId}`, at);
      return draft.end(agentId, callId, at, state !== "COMPLETED");
    }
    case "PermissionRequired": {
      const { approvalId, kind, host, call } = event.request;
      const key = kind === "NETWORK_HOST" ? `${HOST}${approvalId}` : approvalId;
      return draft.add(agentId, { kind: "wait", key, name: call?.name ?? host ?? kind, from: at, to: null, hasFailed: false });
    }
    case "PermissionDecided":
      // One that waits for others still can be decided.
      if (event.missingDecisions > 0) return;
      return endApproval(draft, agentId, event.approvalId, at);
    case "PermissionClosed":
      return endApproval(draft, agentId, event.approvalId, at);
    case "ErrorRaised":
      if (event.severity === "INFO") return;
      return moment("error", event.message ?? "", true);
    case "Done":
      // A program in the background may still ask for a host.
      for (const key of draft.of(agentId).open.keys()) if (!key.startsWith(HOST)) draft.end(agentId, key, at);
      return;
    default:
    // Kinds of a newer server.
  }
}

const HOST = "host ";

function endApproval(draft: Draft, agentId: string, approvalId: string, at: number): void {
  draft.end(agentId, approvalId, at);
  draft.end(agentId, `${HOST}${approvalId}`, at);
}

/** The numbers of an agent's steps, calls and waits. */
export function countsOf({ spans }: Lane): Readonly<Record<Span["kind"], number>> {
  const counts = { step: 0, call: 0, wait: 0, message: 0, error: 0 };
  for (const { kind } of spans) counts[kind] += 1;
  return counts;
}
