import { aborted } from "../../lib/aborted.ts";
import { HttpRefused } from "./http-refused.ts";
import type { McpSession } from "./session.ts";

/** The most folders of a server at a time. */
export const MOST_FOLDERS = 16;

/** The status for a session that has ended at the server, and did not take the call. */
const SESSION_GONE = 404;

/** True if the server does not know the session any more: the call was not taken. */
export function isSessionGone(error: unknown): boolean {
  return error instanceof HttpRefused && error.status === SESSION_GONE;
}

type FolderSession = Pick<McpSession, "process" | "closed" | "close">;

type Held<Session> = {
  readonly opened: Promise<Session>;
  session: Session | null;
  /** The calls under way. */
  calls: number;
};

type Parts<Session> = {
  readonly open: (folder: string) => Promise<Session>;
  /** True if a task is known to this process alone. */
  readonly hasTasks: (process: string | null) => boolean;
  readonly onEnded: (session: Session) => Promise<void>;
};

/**
 * The connections of a server that keeps its roots, one a folder: it does not say when it has taken in other ones. A
 * connection stays for further calls. The one that is idle for the longest time ends when its place is needed.
 */
export class FolderSessions<Session extends FolderSession = McpSession> {
  readonly #parts: Parts<Session>;
  /** By folder, in the order of the last calls. */
  readonly #held = new Map<string, Held<Session>>();
  readonly #ending = new Set<Promise<void>>();

  constructor(parts: Parts<Session>) {
    this.#parts = parts;
  }

  /** The connection with this process; null for none. */
  of(process: string): Session | null {
    return [...this.#held.values()].find(({ session }) => session?.process === process)?.session ?? null;
  }

  /** Does the work of a call in a folder. Rejects if no connection can be opened, or each is in use. */
  async during<Result>(folder: string, signal: AbortSignal, work: (session: Session) => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt += 1) {
      const held = this.#take(folder);
      using stopped = aborted(signal);
      try {
        const session = await Promise.race([held.opened, stopped.promise]);
        return await work(session);
      } catch (error) {
        if (!isSessionGone(error) || attempt > 1) throw error;
        this.#end(folder, held);
      } finally {
        held.calls -= 1;
      }
    }
  }

  #take(folder: string): Held<Session> {
    const known = this.#held.get(folder) ?? this.#open(folder);
    known.calls += 1;
    this.#held.delete(folder);
    this.#held.set(folder, known);
    return known;
  }

  #open(folder: string): Held<Session> {
    if (this.#held.size >= MOST_FOLDERS) {
      const idle = [...this.#held].find(
        ([, { calls, session }]) => calls === 0 && (session === null || !this.#parts.hasTasks(session.process)),
      );
      if (idle === undefined)
        throw new Error(
          `the server works in ${MOST_FOLDERS} folders, which is the most: it was not called, so call it again later`,
        );
      this.#end(...idle);
    }
    const held: Held<Session> = { opened: this.#parts.open(folder), session: null, calls: 0 };
    this.#held.set(folder, held);
    held.opened.then(
      (session) => {
        held.session = session;
        void session.closed.then(() => this.#end(folder, held));
      },
      () => this.#end(folder, held),
    );
    return held;
  }

  #end(folder: string, held: Held<Session>): void {
    if (this.#held.get(folder) !== held) return;
    this.#held.delete(folder);
    const ending = held.opened
      .then(async (session) => {
        await session.close();
        await this.#parts.onEnded(session);
      })
      .catch(() => {})
      .finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  async close(): Promise<void> {
    for (const [folder, held] of this.#held) this.#end(folder, held);
    await Promise.all(this.#ending);
  }
}
