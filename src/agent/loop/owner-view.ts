import type { AgentPatch } from "../../db/commit/change.ts";
import type { Reducer, StateAndBreakpoint } from "./commits/commit.ts";
import type { AgentView } from "./view.ts";

/** Reads an agent's rows when none of its writes is under way; `begin` is called just before. */
export type ReadBetweenWrites = (begin: () => void) => Promise<AgentView>;

/**
 * The memory of an owner. It knows what the agent's rows say after each commit that was answered, so that they are read
 * again only after somebody else changed them, and it knows where the agent stands with the commits that are under way.
 */
export class OwnerView {
  /** The rows after the last answered commit; null if they must be read. */
  #rows: AgentView | null = null;
  #timesForgotten = 0;
  /** State and breakpoint with all that is on its way; null before the first read. */
  #stateAndBreakpoint: StateAndBreakpoint | null = null;
  /** The same after the last commit that was answered. */
  #committed: StateAndBreakpoint | null = null;
  #isUncertain = false;

  /** The rows as they are remembered; null if they must be read. */
  get rows(): AgentView | null {
    return this.#rows;
  }

  /** State and breakpoint of the agent, with all that is on its way; null before the first read. */
  get stateAndBreakpoint(): StateAndBreakpoint | null {
    return this.#stateAndBreakpoint;
  }

  /** The rows as they were seen, with the agent where it stands now: the next commit moves it from there. */
  current(seen: AgentView): AgentView {
    return { ...seen, ...this.#stateAndBreakpoint };
  }

  /** Somebody else may have changed the rows. */
  forget(): void {
    this.#rows = null;
    this.#timesForgotten += 1;
  }

  /** Reads the rows. They are remembered unless they were forgotten meanwhile. */
  async read(readBetweenWrites: ReadBetweenWrites): Promise<AgentView> {
    let timesForgotten = this.#timesForgotten;
    const rows = await readBetweenWrites(() => (timesForgotten = this.#timesForgotten));
    if (timesForgotten === this.#timesForgotten) this.#rows = rows;
    if (this.#stateAndBreakpoint === null || this.#isUncertain)
      this.#stateAndBreakpoint = this.#committed = { state: rows.state, breakpoint: rows.breakpoint };
    this.#isUncertain = false;
    return rows;
  }

  /** A commit is on its way. */
  moved(columns: AgentPatch | undefined): void {
    if (this.#stateAndBreakpoint !== null) this.#stateAndBreakpoint = stateAndBreakpointAfter(this.#stateAndBreakpoint, columns);
  }

  /** A commit was answered: the rows say what it makes of them, unless somebody else signalled meanwhile. */
  settled(columns: AgentPatch | undefined, after: Reducer, signal: number | null): void {
    if (this.#committed !== null) this.#committed = stateAndBreakpointAfter(this.#committed, columns);
    if (this.#rows === null || signal !== this.#rows.signal) this.forget();
    else this.#rows = { ...after(this.#rows), ...this.#committed };
  }

  /** A commit changed nothing, or nobody knows: its move did not happen. The next read says where the agent stands. */
  refused(): void {
    this.#stateAndBreakpoint = this.#committed;
    this.#isUncertain = true;
    this.forget();
  }
}

function stateAndBreakpointAfter({ state, breakpoint }: StateAndBreakpoint, columns: AgentPatch | undefined): StateAndBreakpoint {
  return { state: columns?.state ?? state, breakpoint: columns?.breakpoint ?? breakpoint };
}
