import { Random } from "../hands/random.ts";

/** The ways in which the result of a call is given, or is not. */
export const WAYS = [
  "in time",
  "early",
  "twice",
  "again by its key",
  "concurrently",
  "a wrong form first",
  "an error",
  "too late",
  "after a cancel",
  "when released",
] as const;
export type Way = (typeof WAYS)[number];

/**
 * The tools of the trial: two that order from the queue, one for clients, two whose waits end by their time, and those of
 * MCP servers: one that takes its time, two that ask a person, and one that answers with a task.
 */
export type PlannedTool = "orders" | "orders_once" | "person" | "sleeps" | "asks" | McpTool;

/** The tools of MCP servers, and their servers. */
export const MCP_TOOLS = { measures: "older", talks: "older", fills: "newer", works: "newer" } as const;
export type McpTool = keyof typeof MCP_TOOLS;

export function isOfMcp(tool: PlannedTool): tool is McpTool {
  return Object.hasOwn(MCP_TOOLS, tool);
}

/** The input of a planned call. `job` is its name in the trial; `dueMs` is 0 for the time of the template. */
export type Job = { readonly job: string; readonly way: Way; readonly delayMs: number; readonly dueMs: number };

/** The schema of a job. */
export const JOB = {
  type: "object",
  required: ["job", "way", "delayMs", "dueMs"],
  properties: {
    job: { type: "string" },
    way: { type: "string" },
    delayMs: { type: "number" },
    dueMs: { type: "number" },
  },
} as const;

export type PlannedCall = Job & { readonly tool: PlannedTool };

/**
 * An agent that makes the calls, and starts the children, in one answer to the message `text`. With `remindedAfterMs`, a
 * schedule sends the text after so many ms; the agent makes no calls then.
 */
export type PlannedAgent = {
  readonly text: string;
  readonly remindedAfterMs: number | null;
  readonly template: string;
  readonly calls: readonly PlannedCall[];
  readonly children: readonly PlannedChild[];
};

/** An agent that another one starts with the prompt `text`. */
export type PlannedChild = PlannedAgent & { readonly isBackground: boolean };

/** The work that further agents do. */
export const FURTHER_WORK = ["orders", "starts a child", "is reminded", "measures", "talks", "fills", "works"] as const;
export type FurtherWork = (typeof FURTHER_WORK)[number];

/** The agents of one round. The further ones are told to work only while servers are still to be killed: those whose work comes to the points. */
export type Round = {
  readonly agents: readonly PlannedAgent[];
  readonly further: Readonly<Record<FurtherWork, readonly PlannedAgent[]>>;
};

/** Templates whose approvals expire after so many seconds. */
export const EXPIRES_S = [1, 2, 3, 4, 5] as const;
export const TEMPLATE = "trial";
/** The template of agents that start others. */
export const LEAD = "lead";
export const expiring = (seconds: number): string => `expires${seconds}`;

/** The further agents of each work. */
const FURTHER = 60;
/** The tools of calls of MCP servers, in turn. A question of the older generation needs its session for itself. */
const MCP_MIX: readonly McpTool[] = [
  "measures",
  "fills",
  "works",
  "talks",
  "fills",
  "works",
  "measures",
  "works",
  "fills",
  "measures",
];
/** Reminders of the first agents are due at the same instant, so many ms after the first of them was told. */
const REMINDED_MS = 4_000;
const OF_QUEUE: readonly Way[] = [
  "in time",
  "early",
  "twice",
  "again by its key",
  "concurrently",
  "a wrong form first",
  "an error",
  "too late",
  "after a cancel",
];
const OF_PEOPLE: readonly Way[] = [
  "in time",
  "twice",
  "again by its key",
  "concurrently",
  "a wrong form first",
  "after a cancel",
];
/** The orders in which the results of three calls of one answer come. */
const ORDERS = [
  [0, 1, 2],
  [0, 2, 1],
  [1, 0, 2],
  [1, 2, 0],
  [2, 0, 1],
  [2, 1, 0],
];

/**
 * The size of a trial: the share of agents of each kind in a round, and the reminders that are due at the same instant. A
 * planted run is small.
 */
export type Size = { readonly rounds: number; readonly share: number; readonly reminders: number; readonly isSmall: boolean };

/** The rounds of a trial, from its seed: servers and trial make the same ones. */
export function roundsOf(seed: number, { rounds, share, reminders, isSmall }: Size): readonly Round[] {
  return Array.from({ length: rounds }, (_, round) => {
    const planner = new Planner(new Random(seed + round), round, { share, reminders });
    return isSmall ? planner.small() : planner.whole();
  });
}

class Planner {
  readonly #random: Random;
  readonly #round: number;
  readonly #share: number;
  readonly #reminders: number;
  #agents = 0;

  constructor(random: Random, round: number, { share, reminders }: Pick<Size, "share" | "reminders">) {
    this.#random = random;
    this.#round = round;
    this.#share = share;
    this.#reminders = reminders;
  }

  small(): Round {
    const ordering = times(6, () => this.#agent([this.#call("orders", "concurrently")]));
    const ofMcp = times(8, (index) => this.#mcp(index % 2 === 0 ? "fills" : "works"));
    return { agents: [...ordering, ...ofMcp], further: this.#furtherAgents(0) };
  }

  whole(): Round {
    const queue = [
      ...ORDERS.slice(0, this.#of(6)).map((order) =>
        this.#agent(order.map((place) => this.#call("orders", "in time", { delayMs: 200 + 400 * place }))),
      ),
      ...times(Math.max(OF_QUEUE.length, this.#of(14)), (index) => this.#ordering(index)),
    ];
    const people = times(this.#of(20), (index) => this.#agent([this.#call("person", wayOf(OF_PEOPLE, index))]));
    const sleeping = times(this.#of(10), () => this.#agent(times(3, () => this.#sleep())));
    const asking = times(this.#of(20), (index) => this.#asking(index));
    const mixed = times(this.#of(3), () =>
      this.#agent([
        this.#call("orders", "in time"),
        this.#sleep(),
        this.#call("person", "in time"),
        this.#call("orders", "too late"),
        this.#call("measures", "in time"),
        this.#call("fills", "in time"),
        this.#call("works", "in time"),
      ]),
    );
    const patient = times(this.#of(4), () => this.#agent([this.#call("orders", "when released"), this.#sleep()]));
    const ofMcp = times(this.#of(20), (index) => this.#mcp(MCP_MIX[index % MCP_MIX.length] ?? "measures"));
    const reminded = times(this.#reminders, () => this.#reminded(REMINDED_MS));
    const waiting = [...queue, ...people, ...sleeping, ...asking, ...mixed, ...patient, ...ofMcp, ...reminded];
    const agents = this.#shuffled([...waiting, ...this.#families()]);
    return { agents, further: this.#furtherAgents(FURTHER) };
  }

  #of(count: number): number {
    return Math.ceil(this.#share * count);
  }

  #furtherAgents(count: number): Round["further"] {
    const of = (make: (index: number) => PlannedAgent): readonly PlannedAgent[] => times(count, make);
    return {
      orders: of((index) => this.#ordering(index)),
      "starts a child": of(() => this.#lead([this.#child([this.#call("orders", "in time")])])),
      "is reminded": of(() => this.#reminded(500)),
      measures: of(() => this.#mcp("measures")),
      talks: of(() => this.#mcp("talks")),
      fills: of(() => this.#mcp("fills")),
      works: of(() => this.#mcp("works")),
    };
  }

  #mcp(tool: McpTool): PlannedAgent {
    return this.#agent([this.#call(tool, "in time")]);
  }

  #reminded(remindedAfterMs: number): PlannedAgent {
    return { ...this.#agent([]), remindedAfterMs };
  }

  /** Of a whole round: 20 parents with 60 descendants, 15 with children, and 5 with grandchildren. */
  #families(): readonly PlannedAgent[] {
    const flat = times(this.#of(15), (index) => this.#lead(times(index < 10 ? 3 : 2, (place) => this.#member(index + place))));
    const deep = times(this.#of(5), (index) => {
      const middle = this.#lead([this.#member(index), this.#member(index + 1)]);
      return this.#lead([{ ...middle, isBackground: index % 2 === 1 }, this.#member(index + 2)]);
    });
    return [...flat, ...deep];
  }

  /** A child without children: some wait for an order, or for their time. Every third is in the background; the first waits for its release. */
  #member(index: number): PlannedChild {
    if (index === 0) return this.#child([this.#call("orders", "when released")]);
    const isBackground = index % 3 === 0;
    if (index % 4 === 1) return this.#child([this.#call("orders", "in time")], isBackground);
    if (index % 4 === 2) return this.#child([this.#sleep(2_000)], isBackground);
    return this.#child([], isBackground);
  }

  #child(calls: readonly Omit<PlannedCall, "job">[], isBackground = false): PlannedChild {
    return { ...this.#agent(calls), isBackground };
  }

  #lead(children: readonly PlannedChild[]): PlannedAgent {
    return { ...this.#agent([], LEAD), children };
  }

  #ordering(index: number): PlannedAgent {
    return this.#agent([this.#call(index % 5 === 4 ? "orders_once" : "orders", wayOf(OF_QUEUE, index))]);
  }

  #asking(index: number): PlannedAgent {
    return this.#agent([this.#call("asks", "in time")], expiring(EXPIRES_S[index % EXPIRES_S.length] ?? 1));
  }

  #sleep(upToMs = 4_000): Omit<PlannedCall, "job"> {
    return this.#call("sleeps", "in time", { dueMs: 1_000 + this.#random.number(upToMs - 1_000) });
  }

  #call(tool: PlannedTool, way: Way, more: Partial<PlannedCall> = {}): Omit<PlannedCall, "job"> {
    const dueMs = way === "too late" ? 1_000 + this.#random.number(1_000) : 0;
    return { tool, way, delayMs: this.#random.number(1_000), dueMs, ...more };
  }

  #agent(calls: readonly Omit<PlannedCall, "job">[], template = TEMPLATE): PlannedAgent {
    const name = `${this.#round}-${this.#agents}`;
    this.#agents += 1;
    return {
      text: `work ${name}`,
      remindedAfterMs: null,
      template,
      calls: calls.map((call, index) => ({ ...call, job: `${name}-${index}` })),
      children: [],
    };
  }

  #shuffled(agents: readonly PlannedAgent[]): readonly PlannedAgent[] {
    const placed = agents.map((agent) => ({ agent, place: this.#random.number(1_000_000) }));
    return placed.toSorted((one, other) => one.place - other.place).map(({ agent }) => agent);
  }
}

/** The agent, and all below it. */
export function treeOf(agent: PlannedAgent): readonly PlannedAgent[] {
  return [agent, ...agent.children.flatMap(treeOf)];
}

function times<Value>(count: number, make: (index: number) => Value): readonly Value[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

function wayOf(ways: readonly Way[], index: number): Way {
  return ways[index % ways.length] ?? "in time";
}
