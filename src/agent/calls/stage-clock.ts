import type { GateStage } from "../../events/snapshots.ts";
import { type Clock, msSince } from "../../lib/time.ts";
import type { Meters } from "../../telemetry/meters.ts";

/** One passage of a call through a stage: when it began (ms since 1970), and how many ms it took. */
export type Passage = { readonly stage: GateStage; readonly startedAt: number; readonly durationMs: number };

/** The passages of a call through the stages, in order: a stage that was gone through again is there again. */
export type Stages = readonly Passage[];

/** A call that is judged again and again, as its siblings end, keeps its newest passages only. */
const KEPT = 60;

/** Is told of the stages that a call goes through. */
export type StageTrace = {
  /** A call enters a stage. */
  stageStarted(stage: GateStage): void;
  /** A call leaves a stage, whether it passed or not, after `durationMs` ms. */
  stageCompleted(stage: GateStage, durationMs: number): void;
};

/** The services that measure stages. */
type StageServices = { readonly clock: Clock; readonly meters: Pick<Meters, "stagePassed"> };

/** Keeps the passages of a call through the stages. */
export class StageClock {
  readonly #stages: Passage[];
  readonly #clock: Clock;
  readonly #meters: StageServices["meters"];
  readonly #trace: StageTrace | null;

  constructor(before: Stages, { clock, meters }: StageServices, trace: StageTrace | null) {
    this.#stages = [...before];
    this.#clock = clock;
    this.#meters = meters;
    this.#trace = trace;
  }

  get stages(): Stages {
    return this.#stages.slice(-KEPT);
  }

  /** Runs a stage and keeps its passage, also if the stage throws. */
  timed<Value>(stage: GateStage, run: () => Value): Value {
    const end = this.begin(stage);
    try {
      return run();
    } finally {
      end();
    }
  }

  /** Begins a stage; what is returned ends it. `exceptMs` does not count. */
  begin(stage: GateStage): (exceptMs?: number) => void {
    this.#trace?.stageStarted(stage);
    const startedAt = this.#clock.now().getTime();
    const started = performance.now();
    return (exceptMs = 0) => {
      const durationMs = Math.max(0, msSince(started) - exceptMs);
      this.#stages.push({ stage, startedAt, durationMs });
      this.#meters.stagePassed(stage, durationMs / 1_000);
      this.#trace?.stageCompleted(stage, durationMs);
    };
  }
}
