import { once } from "node:events";
import type { Readable } from "node:stream";
import { setImmediate as macrotask, setTimeout as delay } from "node:timers/promises";
import type { ProcessGroup, ProgramEnd } from "../../workspace/process-groups.ts";

/**
 * The time, in ms, to wait for the end of a program's streams after its own end: another process may hold them open.
 * After it, only data that lies ready is read, up to this many bytes, more than a system buffers for a stream.
 */
const READ_ON = { ms: 500, bytes: 16 * 1024 * 1024 } as const;

const HELD_OPEN = "something that still runs holds the output open: what it says after the end of the command is not read";

/** A program's exit code or signal, and a note for the model about actions after its end. */
export type EndedProgram = ProgramEnd & { readonly code: number | null; readonly signal: NodeJS.Signals | null };

/**
 * Reads both streams of a program until it has ended, and kills its descendants. Each chunk waits until `take`
 * resolves. A note says if another process still holds a stream. Rejects if the program could not be started.
 */
export async function untilEnd(
  group: ProcessGroup,
  take: (chunk: Buffer) => Promise<void>,
  pause: (ms: number, signal: AbortSignal) => Promise<void> = sleep,
): Promise<EndedProgram> {
  const { process } = group;
  const readings = [process.stdout, process.stderr].map((stream) => new Reading(stream, take));
  const read = Promise.all(readings.map(({ ended }) => ended));
  // `exit` may have been emitted before a listener was added.
  if (process.exitCode === null && process.signalCode === null) await once(process, "exit");
  group.end();
  const hasEnded = new AbortController();
  await Promise.race([read, pause(READ_ON.ms, hasEnded.signal)]);
  hasEnded.abort();
  for (const reading of readings) reading.onlyWhatLiesReady();
  await read;
  const { notes } = await group.ended;
  const isHeldOpen = readings.some(({ isCutOff }) => isCutOff);
  return { code: process.exitCode, signal: process.signalCode, notes: isHeldOpen ? [HELD_OPEN, ...notes] : notes };
}

async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => {});
}

class Reading {
  readonly ended: Promise<void>;
  readonly #stream: Readable;
  readonly #take: (chunk: Buffer) => Promise<void>;
  #chunks = 0;
  #room: number | null = null;
  #isTaken = true;
  #isOver = false;
  #isCutOff = false;

  constructor(stream: Readable, take: (chunk: Buffer) => Promise<void>) {
    this.#stream = stream;
    this.#take = take;
    this.ended = this.#run();
  }

  get isCutOff(): boolean {
    return this.#isCutOff;
  }

  onlyWhatLiesReady(): void {
    this.#room = READ_ON.bytes;
    if (this.#isTaken) void this.#endUnlessReady();
  }

  async #run(): Promise<void> {
    try {
      for await (const chunk of this.#stream as AsyncIterable<Buffer>) {
        this.#chunks += 1;
        this.#isTaken = false;
        await this.#take(chunk);
        this.#isTaken = true;
        if (this.#room === null) continue;
        this.#room -= chunk.length;
        if (this.#room < 0) this.#cutOff();
        else void this.#endUnlessReady();
      }
    } catch {
      // Chunks so far were taken: `take` does not fail.
    }
    this.#isOver = true;
  }

  /** Checks the stream once, over two turns of the event loop: the first one may be past all streams already. */
  async #endUnlessReady(): Promise<void> {
    const chunks = this.#chunks;
    await macrotask();
    await macrotask();
    if (!this.#isOver && this.#chunks === chunks) this.#cutOff();
  }

  #cutOff(): void {
    this.#isCutOff = true;
    this.#stream.destroy();
  }
}
