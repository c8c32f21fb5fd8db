import { isInside } from "../../../lib/path-inside.ts";

/** A program's stay in a workspace, from the look of which its box is made. `settled` says that its box is made, `leave` that nothing of it runs. */
export type WorkspaceUse = { settled(): void; leave(): void };

/** The same, with what was seen of the workspace when it was entered. */
export type EnteredWorkspace<Seen> = WorkspaceUse & { readonly seen: Seen };

type Use = { readonly workspace: string; isSettled: boolean };

/**
 * The programs that run in each workspace of this server, for a bubblewrap that follows links at places that it mounts: a
 * box with such places is made only while no other program runs there that could put a link in their way, and none starts
 * meanwhile. Workspaces that lie in one another count as one.
 */
export class WorkspaceUses {
  readonly #uses = new Set<Use>();
  readonly #waiting = new Set<() => void>();

  /**
   * Enters a workspace as soon as it may be entered. `look` looks at the workspace, and `isAlone` says of what was seen that
   * nobody else may be there: then it was seen while nobody was. Gives what the last look saw, by which alone it was decided.
   * Null if `signal` aborts first.
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
      // Nobody else enters meanwhile.
      const use = this.#use(workspace);
      try {
        const seen = await look();
        mustBeAlone = isAlone(seen);
        // What one that has left did last may not have been seen.
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
        this.#tell();
      },
      leave: () => {
        this.#uses.delete(use);
        this.#tell();
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

  #tell(): void {
    for (const done of Array.from(this.#waiting)) done();
  }
}
