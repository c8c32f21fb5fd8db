import type { Stage } from "./refusal.ts";

/** Milliseconds spent in each stage that a call has gone through. */
export type Stages = Readonly<Partial<Record<Stage, number>>>;

/** Is told of the stages that a call goes through. */
export type StageTrace = {
  stageStarted(stage: Stage): void;
  /** `durationMs` is in ms. */
  stageCompleted(stage: Stage, durationMs: number): void;
};

/** Milliseconds by stage; a stage that is gone through again counts anew. */
export class StageClock {
  readonly #stages: Partial<Record<Stage, number>>;
  readonly #trace: StageTrace | null;

  constructor(before: Stages, trace: StageTrace | null) {
    this.#stages = { ...before };
    this.#trace = trace;
  }

  get stages(): Stages {
    return { ...this.#stages };
  }

  /** Runs a stage and counts its time. */
  timed<Value>(stage: Stage, run: () => Value): Value {
    const end = this.begin(stage);
    const value = run();
    end();
    return value;
  }

  /** Begins a stage; what is returned ends it. */
  begin(stage: Stage): () => void {
    this.#trace?.stageStarted(stage);
    const started = performance.now();
    return () => {
      const durationMs = Math.round((performance.now() - started) * 1_000) / 1_000;
      this.#stages[stage] = durationMs;
      this.#trace?.stageCompleted(stage, durationMs);
    };
  }
}
