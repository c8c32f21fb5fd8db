import { Counter, Histogram, type Registry } from "prom-client";

/** The upper bounds of durations, in seconds, for work of ms, work of seconds, and waits for people. */
const SHORT = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const LONG = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900];
const PEOPLE = [1, 5, 15, 60, 300, 900, 3_600, 4 * 3_600, 86_400, 7 * 86_400];

export type TokenCounts = { readonly [kind in "input" | "output" | "cache_read" | "cache_write"]: number };

/**
 * The metrics of a server's work, from its start. Labels have few values: names of the configuration, and words of the
 * log. Values that a client, a model or a tenant chooses are never labels.
 */
export class Meters {
  readonly #models = new BoundedNames();
  readonly #tools = new BoundedNames();
  readonly #modelCalls: Counter<"model" | "outcome">;
  readonly #modelSeconds: Histogram<"model">;
  readonly #firstWord: Histogram<"model">;
  readonly #tokens: Counter<"model" | "kind">;
  readonly #cost: Counter<"model">;
  readonly #cacheMisses: Counter<"model" | "reason">;
  readonly #toolCalls: Counter<"tool" | "outcome">;
  readonly #toolSeconds: Histogram<"tool">;
  readonly #stages: Histogram<"stage">;
  readonly #turns: Counter<"reason">;
  readonly #asked: Counter<"kind">;
  readonly #answered: Counter<"outcome">;
  readonly #answerSeconds: Histogram;
  readonly #events: Counter;
  readonly #statements: Histogram<"pool">;
  readonly #failedStatements: Counter<"pool">;
  readonly #requests: Counter<"route" | "status">;
  readonly #requestSeconds: Histogram<"route">;
  readonly #socketsClosed: Counter<"code">;

  constructor(registry: Registry) {
    const registers = [registry];
    const counter = <Label extends string>(name: string, help: string, ...labelNames: Label[]): Counter<Label> =>
      new Counter({ name, help, labelNames, registers });
    const histogram = <Label extends string>(
      name: string,
      help: string,
      buckets: number[],
      ...labelNames: Label[]
    ): Histogram<Label> => new Histogram({ name, help, buckets, labelNames, registers });
    this.#modelCalls = counter(
      "triplane_model_calls_total",
      "Calls of models, each try: answered, interrupted, or why they failed.",
      "model",
      "outcome",
    );
    this.#modelSeconds = histogram("triplane_model_call_seconds", "Calls of models, to their end.", LONG, "model");
    this.#firstWord = histogram("triplane_model_first_token_seconds", "Calls of models, to their first word.", LONG, "model");
    this.#tokens = counter("triplane_model_tokens_total", "Tokens, as providers counted them.", "model", "kind");
    this.#cost = counter("triplane_model_cost_usd_total", "Cost of these tokens, where the model has a price.", "model");
    this.#cacheMisses = counter(
      "triplane_model_cache_misses_total",
      "Misses of the prompt cache that providers named.",
      "model",
      "reason",
    );
    this.#toolCalls = counter(
      "triplane_tool_calls_total",
      "Tool calls that have ended: completed, cached, sealed, or why they were refused or failed.",
      "tool",
      "outcome",
    );
    this.#toolSeconds = histogram("triplane_tool_call_seconds", "Tool calls that ran.", LONG, "tool");
    this.#stages = histogram("triplane_stage_seconds", "Stages of the gate.", SHORT, "stage");
    this.#turns = counter("triplane_turns_total", "Turns that have ended.", "reason");
    this.#asked = counter("triplane_approvals_asked_total", "Questions to people.", "kind");
    this.#answered = counter("triplane_approvals_closed_total", "Questions to people that were closed.", "outcome");
    this.#answerSeconds = histogram("triplane_approval_seconds", "Questions that people decided, from asked to decided.", PEOPLE);
    this.#events = counter("triplane_events_committed_total", "Events that this server committed.");
    this.#statements = histogram("triplane_statement_seconds", "Statements of the database.", SHORT, "pool");
    this.#failedStatements = counter("triplane_statement_errors_total", "Statements of the database that failed.", "pool");
    this.#requests = counter("triplane_http_requests_total", "Answers over HTTP, streams when they end.", "route", "status");
    this.#requestSeconds = histogram("triplane_http_request_seconds", "Answers over HTTP that are no streams.", SHORT, "route");
    this.#socketsClosed = counter("triplane_websockets_closed_total", "WebSockets that were closed.", "code");
  }

  /** Begins the series of configured names at 0: a rate sees the first count only if an earlier value exists. */
  begin(known: {
    readonly models: Iterable<string>;
    readonly priced: Iterable<string>;
    readonly tools: Iterable<string>;
    readonly modelOutcomes: readonly string[];
    readonly cacheMissReasons: readonly string[];
    readonly toolOutcomes: readonly string[];
    readonly turnReasons: readonly string[];
    readonly approvalKinds: readonly string[];
    readonly approvalOutcomes: readonly string[];
  }): void {
    for (const name of known.models) {
      const model = this.#models.of(name);
      for (const outcome of known.modelOutcomes) this.#modelCalls.inc({ model, outcome }, 0);
      for (const reason of known.cacheMissReasons) this.#cacheMisses.inc({ model, reason }, 0);
      this.#modelSeconds.zero({ model });
      this.#firstWord.zero({ model });
      for (const kind of ["input", "output", "cache_read", "cache_write"]) this.#tokens.inc({ model, kind }, 0);
    }
    for (const name of known.priced) this.#cost.inc({ model: this.#models.of(name) }, 0);
    for (const name of known.tools) {
      const tool = this.#tools.of(name);
      for (const outcome of known.toolOutcomes) this.#toolCalls.inc({ tool, outcome }, 0);
      this.#toolSeconds.zero({ tool });
    }
    for (const reason of known.turnReasons) this.#turns.inc({ reason }, 0);
    for (const kind of known.approvalKinds) this.#asked.inc({ kind }, 0);
    for (const outcome of known.approvalOutcomes) this.#answered.inc({ outcome }, 0);
  }

  /** `seconds`: the duration of the try. `firstWord`: the seconds to its first output; null without any. */
  modelCalled(name: string, outcome: string, seconds: number, firstWord: number | null): void {
    const model = this.#models.of(name);
    this.#modelCalls.inc({ model, outcome });
    this.#modelSeconds.observe({ model }, seconds);
    if (firstWord !== null) this.#firstWord.observe({ model }, firstWord);
  }

  /** `costUsd` is null for a model without a price. */
  tokensCounted(name: string, counts: TokenCounts, costUsd: number | null): void {
    const model = this.#models.of(name);
    for (const [kind, count] of Object.entries(counts)) this.#tokens.inc({ model, kind }, counted(count));
    if (costUsd !== null) this.#cost.inc({ model }, counted(costUsd));
  }

  cacheMissed(name: string, reason: string): void {
    this.#cacheMisses.inc({ model: this.#models.of(name), reason });
  }

  /** `tool` is null for a name that no tool has, as models invent some. `seconds` is null for a call that did not run. */
  toolCalled(name: string | null, outcome: string, seconds: number | null): void {
    const tool = name === null ? "unknown" : this.#tools.of(name);
    this.#toolCalls.inc({ tool, outcome });
    if (seconds !== null) this.#toolSeconds.observe({ tool }, seconds);
  }

  stagePassed(stage: string, seconds: number): void {
    this.#stages.observe({ stage }, seconds);
  }

  turnEnded(reason: string): void {
    this.#turns.inc({ reason });
  }

  approvalAsked(kind: string): void {
    this.#asked.inc({ kind });
  }

  /** `seconds`: the time to people's decision; null without one. */
  approvalClosed(outcome: string, seconds: number | null): void {
    this.#answered.inc({ outcome });
    if (seconds !== null) this.#answerSeconds.observe(seconds);
  }

  eventsCommitted(count: number): void {
    this.#events.inc(count);
  }

  statementRan(pool: string, seconds: number, hasFailed: boolean): void {
    this.#statements.observe({ pool }, seconds);
    this.#failedStatements.inc({ pool }, hasFailed ? 1 : 0);
  }

  /** `seconds` is null for a stream. */
  requestAnswered(route: string, status: number, seconds: number | null): void {
    this.#requests.inc({ route, status: String(status) });
    if (seconds !== null) this.#requestSeconds.observe({ route }, seconds);
  }

  socketClosed(code: string): void {
    this.#socketsClosed.inc({ code });
  }
}

/** A provider's number, which may be anything: NaN would spoil the series for ever. */
function counted(value: number): number {
  return Number.isFinite(value) && value > 0 ? value : 0;
}

const NAMES = 200;

/** The first values of a label, and `other` for the rest. Values stay in memory for ever. */
class BoundedNames {
  readonly #names = new Set<string>();

  of(name: string): string {
    if (!this.#names.has(name) && this.#names.size >= NAMES) return "other";
    this.#names.add(name);
    return name;
  }
}
