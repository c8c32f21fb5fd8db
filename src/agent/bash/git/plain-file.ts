import { constants } from "node:fs";
import { open } from "node:fs/promises";

/**
 * The content of a file of at most so many bytes; null if it is no file, or has more. Never waits: a pipe that a program puts in
 * the place of a file, after somebody has looked at it, would hold a thread of the server for ever.
 */
export async function plainContent(path: string, mostBytes: number): Promise<Buffer | null> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const found = await file.stat();
    return found.isFile() && found.size <= mostBytes ? await file.readFile() : null;
  } finally {
    await file.close();
  }
}
