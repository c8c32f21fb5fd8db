/** The planted faults, and the problems by which they are seen. */
const FAULTS = [
  ["a result is committed whatever the state of its call", /^the call \S+ of orders .*: 2 TOOL_END/],
  ["the result of a task is committed again", /^the call \S+ of works .*: 2 TOOL_END/],
  ["the wait for a task has no time at first", /is WAITING without a wait for its task/],
  ["a call whose answer left runs again", /^the call \S+ of fills .*: the MCP server ran it 2 times/],
] as const;

type Fail = (problem: string) => void;

/** Passes problems on once each planted fault is seen. */
export class SeenFaults {
  readonly #unseen = new Map(FAULTS);
  readonly #fail: Fail;
  readonly #problems = new Set<string>();

  constructor(fail: Fail) {
    this.#fail = fail;
  }

  note(problem: string): void {
    this.#problems.add(problem);
    for (const [fault, pattern] of this.#unseen) if (pattern.test(problem)) this.#unseen.delete(fault);
    if (this.#unseen.size === 0) this.#problems.forEach((each) => this.#fail(each));
  }

  /** Throws if a fault was not seen. */
  check(): void {
    if (this.#unseen.size > 0)
      throw new Error(`not seen: ${[...this.#unseen.keys()].join("; ")}\n${[...this.#problems].join("\n")}`);
  }
}
