import { isInside } from "../../../lib/path-inside.ts";

/** A program's stay in a workspace. `settled`: its box is made; `leave`: the box has ended. */
export type WorkspaceUse = { settled(): void; leave(): void };

export type EnteredWorkspace<Seen> = WorkspaceUse & { readonly seen: Seen };

type Use = { readonly workspace: string; isSettled: boolean };

/**
 * The programs in each workspace of this server, for a bubblewrap that follows links at the places of its mounts. A box
 * with such mounts is made only while no other program runs there, and none starts meanwhile: it could replace a place
 * by a link. Nested workspaces count as one.
 */
export class WorkspaceUses {
  readonly #uses = new Set<Use>();
  readonly #waiting = new Set<() => void>();

  /**
   * Enters a workspace as soon as possible. `look` examines the workspace, and `isAlone` decides from its result
   * whether no other program may run there. Returns the last result. Null if `signal` aborts first.
   */
  async enter<Seen>(
    workspace: string,
    look: () => Promise<Seen>,
    isAlone: (seen: Seen) => boolean,
    signal: AbortSignal,
  ): Promise<EnteredWorkspace<Seen> | null> {
    let mustBeAlone = false;
    for (;;) {
      while (!this.#mayEnter(workspace, mustBeAlone)) {
        if (signal.aborted) return null;
        await this.#change(signal);
      }
      const others = this.#others(workspace);
      // No other program enters meanwhile.
      const use = this.#use(workspace);
      try {
        const seen = await look();
        mustBeAlone = isAlone(seen);
        // The last actions of a leaving program may have been missed.
        const isStale = others.length > 0 && (mustBeAlone || others.some((other) => !this.#uses.has(other)));
        if (!isStale) return { seen, ...use };
      } catch (error) {
        use.leave();
        throw error;
      }
      use.leave();
    }
  }

  #use(workspace: string): WorkspaceUse {
    const use: Use = { workspace, isSettled: false };
    this.#uses.add(use);
    return {
      settled: () => {
        use.isSettled = true;
        this.#notify();
      },
      leave: () => {
        this.#uses.delete(use);
        this.#notify();
      },
    };
  }

  #mayEnter(workspace: string, mustBeAlone: boolean): boolean {
    const others = this.#others(workspace);
    return mustBeAlone ? others.length === 0 : others.every(({ isSettled }) => isSettled);
  }

  #others(workspace: string): readonly Use[] {
    return [...this.#uses].filter((use) => isInside(use.workspace, workspace) || isInside(workspace, use.workspace));
  }

  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#waiting.delete(done);
        signal.removeEventListener("abort", done);
        resolve();
      };
      this.#waiting.add(done);
      signal.addEventListener("abort", done, { once: true });
    });
  }

  #notify(): void {
    for (const done of Array.from(this.#waiting)) done();
  }
}
