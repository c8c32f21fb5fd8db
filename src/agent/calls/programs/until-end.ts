import { once } from "node:events";
import type { Readable } from "node:stream";
import { setImmediate as macrotask, setTimeout as delay } from "node:timers/promises";
import type { ProcessGroup, ProgramEnd } from "../../workspace/process-groups.ts";

/**
 * The time, in ms, for which the end of a program's streams is waited for after the program's own end: something else may hold
 * them open for ever. From then on only what lies ready is read, so much of it at most, in bytes: more than a system keeps of a stream.
 */
const READ_ON = { ms: 500, bytes: 16 * 1024 * 1024 } as const;

/** Says in words for the model that a stream was not read to its end. */
const HELD_OPEN = "something that still runs holds the output open: what it says after the end of the command is not read";

/** The end of a program: its code or its signal, and what was done after that, in words for the model. */
export type EndedProgram = ProgramEnd & { readonly code: number | null; readonly signal: NodeJS.Signals | null };

/**
 * Reads both streams of a program until it has ended, and kills what it left behind. `take` is given each chunk, and is waited
 * for, however long it takes. A note says if something else still holds a stream. Rejects if the program could not be started.
 */
export async function untilEnd(
  group: ProcessGroup,
  take: (chunk: Buffer) => Promise<void>,
  pause: (ms: number, signal: AbortSignal) => Promise<void> = sleep,
): Promise<EndedProgram> {
  const { process } = group;
  const readings = [process.stdout, process.stderr].map((stream) => new Reading(stream, take));
  const read = Promise.all(readings.map(({ ended }) => ended));
  // `exit` may have been said before anybody listened.
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

/** The reading of one stream. A stream that breaks off has ended. */
class Reading {
  /** Resolves when nothing more is read. Never rejects. */
  readonly ended: Promise<void>;
  readonly #stream: Readable;
  readonly #take: (chunk: Buffer) => Promise<void>;
  /** The number of chunks that have come, and whether the last of them was taken. */
  #chunks = 0;
  /** The bytes that may still come; null for no bound. */
  #room: number | null = null;
  #isTaken = true;
  #isOver = false;
  #isCutOff = false;

  constructor(stream: Readable, take: (chunk: Buffer) => Promise<void>) {
    this.#stream = stream;
    this.#take = take;
    this.ended = this.#run();
  }

  /** True if the stream was not read to its end. */
  get isCutOff(): boolean {
    return this.#isCutOff;
  }

  /** Ends the reading as soon as nothing lies ready, or too much has come. */
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
      // What it said until then was taken: `take` does not fail.
    }
    this.#isOver = true;
  }

  /** Looks at the stream once, which takes two turns of the event loop: the first one may have looked at all streams already. */
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
