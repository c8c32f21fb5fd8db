import type { Model, ModelErrorKind } from "../models/model.ts";
import { nextFallback, triedBefore, type Fallbacks } from "./fallbacks.ts";
import type { AgentView } from "./view.ts";

type Trouble = {
  readonly turn: number;
  readonly brokenSteps: number;
  /** The fallbacks that were tried, by name in the configuration: the last one answers. */
  readonly tried: readonly string[];
  /** True if an answer contained only thoughts: the next such answer is accepted. */
  readonly wasEmpty: boolean;
};

/** The failures of models in the present turn of an agent, under one lease, and the model that answers after them. */
export class TurnTrouble {
  readonly #services: { readonly models: ReadonlyMap<string, Model> };
  #known: Trouble | null = null;

  constructor(services: { readonly models: ReadonlyMap<string, Model> }) {
    this.#services = services;
  }

  /**
   * The first model. After a fallback began to answer, the fallback for the rest of the turn, also under another lease.
   */
  modelOf({ lastStep, turn }: Pick<AgentView, "lastStep" | "turn">, template: Fallbacks, first: Model): Model {
    const { models } = this.#services;
    if (this.#known?.turn !== turn) {
      const lastModel = lastStep?.turn === turn ? lastStep.model : null;
      this.#known = { ...this.#of(turn), tried: triedBefore(template, lastModel, { first, models }) };
    }
    return models.get(this.#known.tried.at(-1) ?? "") ?? first;
  }

  /** True if the next answer of only thoughts is accepted. */
  takesEmpty(turn: number): boolean {
    return this.#of(turn).wasEmpty;
  }

  answered(): void {
    if (this.#known !== null) this.#known = { ...this.#known, brokenSteps: 0 };
  }

  /** Counts a step that failed, and tells how many have in a row. */
  failed(turn: number, kind: ModelErrorKind): number {
    const trouble = this.#of(turn);
    const brokenSteps = trouble.brokenSteps + 1;
    this.#known = { ...trouble, brokenSteps, wasEmpty: trouble.wasEmpty || kind === "empty" };
    return brokenSteps;
  }

  /** The name of the model that would answer after a failure; null if none is left. */
  next({ turn, model: own }: Pick<AgentView, "turn" | "model">, template: Fallbacks, failure: ModelErrorKind): string | null {
    return nextFallback(template, failure, { own, tried: this.#of(turn).tried, models: this.#services.models });
  }

  /** From here on this fallback answers the turn. */
  fallBack(turn: number, to: string): void {
    this.#known = { turn, brokenSteps: 0, tried: [...this.#of(turn).tried, to], wasEmpty: false };
  }

  #of(turn: number): Trouble {
    return this.#known?.turn === turn ? this.#known : { turn, brokenSteps: 0, tried: [], wasEmpty: false };
  }
}
