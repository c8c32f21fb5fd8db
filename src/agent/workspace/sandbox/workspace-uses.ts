import { isInside } from "../../../lib/path-inside.ts";

/** A program's stay in a workspace. `settled` says that its box is made, `leave` that nothing of it runs. */
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
   * nobody else may be there. Gives what the last look saw, by which alone it was decided. Null if `signal` aborts first.
   */
  async enter<Seen>(
    workspace: string,
    look: () => Seen,
    isAlone: (seen: Seen) => boolean,
    signal: AbortSignal,
  ): Promise<EnteredWorkspace<Seen> | null> {
    let seen = look();
    while (!this.#mayEnter(workspace, isAlone(seen))) {
      if (signal.aborted) return null;
      await this.#change(signal);
      seen = look();
    }
    const use: Use = { workspace, isSettled: false };
    this.#uses.add(use);
    return {
      seen,
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

  #mayEnter(workspace: string, isAlone: boolean): boolean {
    const others = [...this.#uses].filter((use) => isInside(use.workspace, workspace) || isInside(workspace, use.workspace));
    return isAlone ? others.length === 0 : others.every(({ isSettled }) => isSettled);
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
