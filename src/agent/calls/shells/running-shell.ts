import type { ShellEndReason } from "../../../events/snapshots.ts";
import { Segments } from "../../workspace/output/segments.ts";
import type { ProgramLease } from "../../workspace/program-lease.ts";
import type { ProcessGroup } from "../../workspace/process-groups.ts";
import type { ShellEnd } from "../../tools/bash/shells.ts";
import type { StartedShell } from "./rows.ts";
import { untilEnd } from "../programs/until-end.ts";

export class RunningShell {
  readonly row: StartedShell;
  /** Resolves when the shell has ended, and its output is written. Never rejects. */
  readonly ended: Promise<ShellEnd>;
  readonly #group: ProcessGroup;
  readonly #output: Segments;
  readonly #timer: NodeJS.Timeout;
  #reason: ShellEndReason = "EXITED";
  readonly #lease: ProgramLease;

  constructor(
    row: StartedShell,
    group: ProcessGroup,
    { folder, mostMs, lease }: { readonly folder: string; readonly mostMs: number; readonly lease: ProgramLease },
  ) {
    this.row = row;
    this.#group = group;
    this.#output = new Segments(folder);
    this.#lease = lease;
    this.#timer = setTimeout(() => this.end("TIME_UP"), mostMs);
    this.ended = this.#run();
  }

  /** Kills the shell and its descendants. The first reason stays. */
  end(reason: ShellEndReason): void {
    const { exitCode, signalCode } = this.#group.process;
    if (this.#reason === "EXITED" && exitCode === null && signalCode === null) this.#reason = reason;
    this.#group.end();
  }

  async #run(): Promise<ShellEnd> {
    this.#group.process.stdin.end();
    let writing: Promise<void> = this.#output.begin().catch(() => {});
    const take = (chunk: Buffer): Promise<void> => (writing = writing.then(() => this.#write(chunk)));
    const nobodyKnows = { code: null, signal: null, notes: [] };
    const { code, signal, notes } = await untilEnd(this.#group, take).catch(() => nobodyKnows);
    clearTimeout(this.#timer);
    // The guard killed it, which is not reported otherwise.
    if (this.#reason === "EXITED" && signal === "SIGKILL" && this.#lease.isOver) this.#reason = "SERVER_LOST";
    for (const note of notes) await take(Buffer.from(`\n[${note}]\n`));
    await writing;
    await this.#output.close().catch(() => {});
    return { endReason: this.#reason, exitCode: code, signal };
  }

  /** A full disk must not stop the shell: unwritten output is missing. */
  async #write(chunk: Buffer): Promise<void> {
    await this.#output.write(chunk).catch(() => {});
  }
}
