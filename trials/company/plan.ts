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
 * The tools of the trial: two that order from the queue, one for people, two whose waits end by their time, and one of an
 * MCP server.
 */
export type PlannedTool = "orders" | "orders_once" | "person" | "sleeps" | "asks" | "measures";

/** The input of a planned call. `job` is its name in the trial; `dueMs` is 0 for the time of the template. */
export type Job = { readonly job: string; readonly way: Way; readonly delayMs: number; readonly dueMs: number };

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

/** The agents of one round. The further ones are told to work only while servers are still to be killed. */
export type Round = { readonly agents: readonly PlannedAgent[]; readonly further: readonly PlannedAgent[] };

/** Templates whose approvals expire after so many seconds. */
export const EXPIRES_S = [1, 2, 3, 4, 5] as const;
export const TEMPLATE = "trial";
/** The template of agents that start others. */
export const LEAD = "lead";
export const expiring = (seconds: number): string => `expires${seconds}`;

const FURTHER = 150;
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

/** The rounds of a trial, from its seed: servers and trial make the same ones. Those of a planted run are small. */
export function roundsOf(seed: number, rounds: number, isPlanted: boolean): readonly Round[] {
  return Array.from({ length: rounds }, (_, round) => {
    const planner = new Planner(new Random(seed + round), round);
    return isPlanted ? planner.small() : planner.whole();
  });
}

class Planner {
  readonly #random: Random;
  readonly #round: number;
  #agents = 0;

  constructor(random: Random, round: number) {
    this.#random = random;
    this.#round = round;
  }

  small(): Round {
    return { agents: times(10, () => this.#agent([this.#call("orders", "concurrently")])), further: [] };
  }

  whole(): Round {
    const queue = [
      ...ORDERS.map((order) =>
        this.#agent(order.map((place) => this.#call("orders", "in time", { delayMs: 200 + 400 * place }))),
      ),
      ...times(14, (index) => this.#ordering(index)),
    ];
    const people = times(20, (index) => this.#agent([this.#call("person", wayOf(OF_PEOPLE, index))]));
    const sleeping = times(10, () => this.#agent(times(3, () => this.#sleep())));
    const asking = times(20, (index) => this.#asking(index));
    const mixed = times(3, () =>
      this.#agent([
        this.#call("orders", "in time"),
        this.#sleep(),
        this.#call("person", "in time"),
        this.#call("orders", "too late"),
        this.#call("measures", "in time"),
      ]),
    );
    const patient = times(4, () => this.#agent([this.#call("orders", "when released"), this.#sleep()]));
    const measuring = times(20, () => this.#measuring());
    const reminded = times(10, () => this.#reminded(1_000 + this.#random.number(4_000)));
    const waiting = [...queue, ...people, ...sleeping, ...asking, ...mixed, ...patient, ...measuring, ...reminded];
    const agents = this.#shuffled([...waiting, ...this.#families()]);
    const further = times(FURTHER, (index) => this.#further(index));
    return { agents, further };
  }

  /** Agents of all kinds around whose work servers die. */
  #further(index: number): PlannedAgent {
    switch (index % 6) {
      case 2:
      case 5:
        return this.#lead([this.#child([this.#call("orders", "in time")])]);
      case 3:
        return this.#measuring();
      case 4:
        return this.#reminded(500);
      default:
        return this.#ordering(index);
    }
  }

  #measuring(): PlannedAgent {
    return this.#agent([this.#call("measures", "in time")]);
  }

  #reminded(remindedAfterMs: number): PlannedAgent {
    return { ...this.#agent([]), remindedAfterMs };
  }

  /** 20 parents with 60 descendants: 15 with children, and 5 with grandchildren. */
  #families(): readonly PlannedAgent[] {
    const flat = times(15, (index) => this.#lead(times(index < 10 ? 3 : 2, (place) => this.#member(index + place))));
    const deep = times(5, (index) => {
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

  #sleep(upToMs = 5_000): Omit<PlannedCall, "job"> {
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
