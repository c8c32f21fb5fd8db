/** The planted faults, and the problems by which they are seen. */
const FAULTS = [
  ["a result is committed whatever the state of its call", /^the call \S+ of orders .*: 2 TOOL_END/],
  ["the result of a task is committed again", /^the call \S+ of works .*: 2 TOOL_END/],
  ["the wait for a task has no time at first", /is WAITING without a wait for its task/],
  ["a call whose answer left runs again", /^the call \S+ of fills .*: the MCP server ran it 2 times/],
] as const;

type Fail = (problem: string) => void;

/** Passes the problems of planted faults on, each once, when all of these faults are seen. */
export class SeenFaults {
  readonly #unseen = new Map(FAULTS);
  readonly #fail: Fail;
  readonly #problems = new Set<string>();
  readonly #ofFaults = new Set<string>();

  constructor(fail: Fail) {
    this.#fail = fail;
  }

  note(problem: string): void {
    if (this.#problems.has(problem)) return;
    this.#problems.add(problem);
    for (const [fault, pattern] of FAULTS) {
      if (!pattern.test(problem)) continue;
      this.#unseen.delete(fault);
      this.#ofFaults.add(problem);
    }
    if (this.#unseen.size > 0) return;
    this.#ofFaults.forEach((each) => this.#fail(each));
    this.#ofFaults.clear();
  }

  /** Throws if a fault was not seen. */
  check(): void {
    if (this.#unseen.size > 0)
      throw new Error(`not seen: ${[...this.#unseen.keys()].join("; ")}\n${[...this.#problems].join("\n")}`);
  }
}
