import type { AgentPatch } from "../../db/commit/change.ts";
import type { Reducer, StateAndBreakpoint } from "./commits/commit.ts";
import type { AgentView } from "./view.ts";

export type ReadBetweenWrites = (begin: () => void) => Promise<AgentView>;

/**
 * The owner's memory of an agent. It knows the rows after each answered commit, so that they are read again only after
 * a change by others. It also knows state and breakpoint including commits under way.
 */
export class OwnerView {
  #rows: AgentView | null = null;
  #timesForgotten = 0;
  /** State and breakpoint including commits under way; null before the first read. */
  #stateAndBreakpoint: StateAndBreakpoint | null = null;
  #committed: StateAndBreakpoint | null = null;
  #isUncertain = false;

  get rows(): AgentView | null {
    return this.#rows;
  }

  get stateAndBreakpoint(): StateAndBreakpoint | null {
    return this.#stateAndBreakpoint;
  }

  /** The given rows with the present state and breakpoint: the base of the next commit. */
  rebase(seen: AgentView): AgentView {
    return { ...seen, ...this.#stateAndBreakpoint };
  }

  invalidate(): void {
    this.#rows = null;
    this.#timesForgotten += 1;
  }

  async read(readBetweenWrites: ReadBetweenWrites): Promise<AgentView> {
    let timesForgotten = this.#timesForgotten;
    const rows = await readBetweenWrites(() => (timesForgotten = this.#timesForgotten));
    if (timesForgotten === this.#timesForgotten) this.#rows = rows;
    if (this.#stateAndBreakpoint === null || this.#isUncertain)
      this.#stateAndBreakpoint = this.#committed = { state: rows.state, breakpoint: rows.breakpoint };
    this.#isUncertain = false;
    return rows;
  }

  moved(columns: AgentPatch | undefined): void {
    if (this.#stateAndBreakpoint !== null) this.#stateAndBreakpoint = stateAndBreakpointAfter(this.#stateAndBreakpoint, columns);
  }

  /** Takes over an answered commit, unless others signalled a change meanwhile. */
  settled(columns: AgentPatch | undefined, after: Reducer, signal: number | null): void {
    if (this.#committed !== null) this.#committed = stateAndBreakpointAfter(this.#committed, columns);
    if (this.#rows === null || signal !== this.#rows.signal) this.invalidate();
    else this.#rows = { ...after(this.#rows), ...this.#committed };
  }

  /** Drops the move of a commit that changed nothing or has an unknown outcome. The next read says the truth. */
  refused(): void {
    this.#stateAndBreakpoint = this.#committed;
    this.#isUncertain = true;
    this.invalidate();
  }
}

function stateAndBreakpointAfter({ state, breakpoint }: StateAndBreakpoint, columns: AgentPatch | undefined): StateAndBreakpoint {
  return { state: columns?.state ?? state, breakpoint: columns?.breakpoint ?? breakpoint };
}
