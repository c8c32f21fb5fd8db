import type { Deadline } from "../../lib/time.ts";
import { ProgramLease } from "../workspace/process-groups.ts";
import type { Lease, Term } from "./lease.ts";

export class HeldLease implements Lease {
  readonly agentId: string;
  readonly tenant: string;
  readonly createdBy: string;
  readonly owner: string;
  readonly epoch: number;
  readonly isTakeover: boolean;
  readonly programs: ProgramLease;
  readonly #lost = new AbortController();
  #startUntil: Deadline;
  #extended: PromiseWithResolvers<void> = Promise.withResolvers();

  constructor({ agentId, tenant, createdBy, owner, epoch, isTakeover }: Lease, { startUntil, programsUntil }: Term) {
    this.agentId = agentId;
    this.tenant = tenant;
    this.createdBy = createdBy;
    this.owner = owner;
    this.epoch = epoch;
    this.isTakeover = isTakeover;
    this.#startUntil = startUntil;
    this.programs = new ProgramLease(programsUntil, { tenant, agent: agentId });
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  get allowsStart(): boolean {
    return !this.#startUntil.isOver;
  }

  /** Resolves at the next renewal, or when the lease is lost. */
  get extended(): Promise<void> {
    return this.#extended.promise;
  }

  extend({ startUntil, programsUntil }: Term): void {
    this.#startUntil = startUntil;
    this.programs.renew(programsUntil);
    this.#extended.resolve();
    this.#extended = Promise.withResolvers();
  }

  lose(): void {
    this.#lost.abort();
    this.#extended.resolve();
  }
}
