import { messageOf } from "../lib/text.ts";
import type { Hold } from "./hold.ts";
import { hookAnswer, type Placed } from "./hooks.ts";
import { ownCodeOf, runOwnCode } from "./own-code.ts";
import type { AgentParts } from "./parts.ts";

/** Hooks that only look, one after another beside the loop: a slow one holds nothing up but the parking of the agent. */
export class HooksBeside {
  readonly #parts: Pick<AgentParts, "log" | "clock" | "logger">;
  readonly #hold: Hold;
  #running: Promise<void> = Promise.resolve();
  #count = 0;

  constructor(parts: Pick<AgentParts, "log" | "clock" | "logger">, hold: Hold) {
    this.#parts = parts;
    this.#hold = hold;
  }

  /** Whether any hook runs, or waits for others. */
  get areRunning(): boolean {
    return this.#count > 0;
  }

  /** Runs the hooks after those that run already. One that throws is reported as an ERROR event. */
  run<Hook>(hooks: readonly Placed<Hook>[], invoke: (hook: Hook) => void | Promise<void>): void {
    this.#count += hooks.length;
    for (const { place, run } of hooks) this.#running = this.#running.then(() => this.#runOne(place, () => invoke(run)));
  }

  /** Resolves when no hook runs any more. Never rejects. */
  async settled(): Promise<void> {
    await this.#running;
  }

  async #runOne(place: string, invoke: () => void | Promise<void>): Promise<void> {
    try {
      const { agentId: id, tenant, createdBy } = this.#hold.lease;
      const code = ownCodeOf(this.#parts, { id, tenant, createdBy }, `the hook ${place}`, "MODEL");
      await runOwnCode(code, () => hookAnswer(invoke, this.#hold.lost));
    } catch (error) {
      const message = `the hook ${place} failed: ${messageOf(error)}`;
      this.#hold.send({ kind: "ERROR", severity: "WARN", phase: "MODEL", message, detail: "hook_failed" });
    } finally {
      this.#count -= 1;
    }
  }
}
