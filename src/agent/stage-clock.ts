import type { Stage } from "./gate/refusal.ts";

/** Milliseconds spent in each stage that a call has gone through. */
export type Stages = Readonly<Partial<Record<Stage, number>>>;

/** Milliseconds by stage; a stage that is gone through again counts anew. */
export class StageClock {
  readonly #stages: Partial<Record<Stage, number>>;

  constructor(before: Stages) {
    this.#stages = { ...before };
  }

  get stages(): Stages {
    return { ...this.#stages };
  }

  timed<Value>(stage: Stage, run: () => Value): Value {
    const started = performance.now();
    const value = run();
    this.add(stage, started);
    return value;
  }

  add(stage: Stage, started: number): void {
    this.#stages[stage] = Math.round((performance.now() - started) * 1_000) / 1_000;
  }
}
