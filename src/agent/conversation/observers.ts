import { messageOf } from "../../lib/text.ts";
import type { ConversationOwner } from "./scope.ts";
import { hookAnswer, type Placed } from "../tools/tool-hooks.ts";
import { ownCodeOf, runOwnCode, type OwnCodeServices } from "../tools/own-code.ts";

/** Runs observing hooks one after another in the background: a slow one delays only the parking of the agent. */
export class Observers {
  readonly #services: OwnCodeServices;
  readonly #owner: ConversationOwner;
  #running: Promise<void> = Promise.resolve();
  #count = 0;

  constructor(services: OwnCodeServices, owner: ConversationOwner) {
    this.#services = services;
    this.#owner = owner;
  }

  get areRunning(): boolean {
    return this.#count > 0;
  }

  run<Hook>(hooks: readonly Placed<Hook>[], invoke: (hook: Hook) => void | Promise<void>): void {
    this.#count += hooks.length;
    for (const { place, run } of hooks) this.#running = this.#running.then(() => this.#runOne(place, () => invoke(run)));
  }

  async settled(): Promise<void> {
    await this.#running;
  }

  async #runOne(place: string, invoke: () => void | Promise<void>): Promise<void> {
    try {
      const { agentId: id, tenant, createdBy } = this.#owner.lease;
      const code = ownCodeOf(this.#services, { id, tenant, createdBy }, `the hook ${place}`, "MODEL");
      await runOwnCode(code, () => hookAnswer(invoke, this.#owner.lost));
    } catch (error) {
      const message = `the hook ${place} failed: ${messageOf(error)}`;
      this.#owner.send({ kind: "ERROR", severity: "WARN", phase: "MODEL", message, detail: "hook_failed" });
    } finally {
      this.#count -= 1;
    }
  }
}
