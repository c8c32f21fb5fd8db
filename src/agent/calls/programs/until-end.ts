import { once } from "node:events";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type { ProcessGroup, ProgramEnd } from "../../workspace/process-groups.ts";

/** The time for which what a program says is read on after its end, in ms: something else may hold its pipe for ever. */
const READ_ON_MS = 500;

/** The end of a program: its code or its signal, and what was done after that, in words for the model. */
export type EndedProgram = ProgramEnd & { readonly code: number | null; readonly signal: NodeJS.Signals | null };

/**
 * Reads both streams of a program until it has ended, and kills what it left behind. `take` is given each chunk, and is waited
 * for. Rejects if the program could not be started.
 */
export async function untilEnd(group: ProcessGroup, take: (chunk: Buffer) => Promise<void>): Promise<EndedProgram> {
  const { process } = group;
  const streams = [process.stdout, process.stderr];
  const read = Promise.all(streams.map((stream) => readAll(stream, take)));
  // `exit` may have been said before anybody listened.
  if (process.exitCode === null && process.signalCode === null) await once(process, "exit");
  group.end();
  const giveUp = new AbortController();
  await Promise.race([read, delay(READ_ON_MS, undefined, { signal: giveUp.signal }).catch(() => {})]);
  giveUp.abort();
  for (const stream of streams) stream.destroy();
  await read;
  const { notes } = await group.ended;
  return { code: process.exitCode, signal: process.signalCode, notes };
}

/** Reads a stream to its end. One that breaks off, or is destroyed, has ended. */
async function readAll(stream: Readable, take: (chunk: Buffer) => Promise<void>): Promise<void> {
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) await take(chunk);
  } catch {
    // What it said until then was taken: `take` does not fail.
  }
}
