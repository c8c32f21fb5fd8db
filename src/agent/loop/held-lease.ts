import type { Deadline } from "../../lib/deadline.ts";
import { ProgramLease } from "../workspace/program-lease.ts";
import type { Lease, Term } from "./lease.ts";

/** A lease that this server holds: the time until which new work may start under it, and whether it is lost. */
export class HeldLease implements Lease {
  readonly agentId: string;
  readonly tenant: string;
  readonly createdBy: string;
  readonly owner: string;
  readonly epoch: number;
  readonly isTakeover: boolean;
  /** The lease of the programs of the agent's calls. */
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

  /** Aborts when the lease is lost, for good: another owner goes on. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** True if enough of the lease is left to start a tool or a model call. */
  get allowsStart(): boolean {
    return !this.#startUntil.isOver;
  }

  /** Resolves when the lease is renewed next, or is lost. */
  get extended(): Promise<void> {
    return this.#extended.promise;
  }

  /** The lease was renewed: its next term has begun. */
  extend({ startUntil, programsUntil }: Term): void {
    this.#startUntil = startUntil;
    this.programs.renew(programsUntil);
    this.#extended.resolve();
    this.#extended = Promise.withResolvers();
  }

  /** The lease is lost, or given up. */
  lose(): void {
    this.#lost.abort();
    this.#extended.resolve();
  }
}
