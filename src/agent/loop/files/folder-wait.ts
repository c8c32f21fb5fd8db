import type { AgentEventBody } from "../../../events/event.ts";
import type { AnsweringFolders } from "../../workspace/answering-folders.ts";
import { eventsOnly } from "../commits/commit.ts";
import type { Owner } from "../owner.ts";
import type { AgentView } from "../view.ts";
import { FOLDER_HUNG } from "../waiting-for.ts";

/** Waits for the file system of an agent's folder if it hangs. Only this agent waits (invariant 13). */
export class FolderWait {
  readonly #folders: AnsweringFolders;
  readonly #owner: Owner;
  #isTold = false;

  constructor(folders: AnsweringFolders, owner: Owner) {
    this.#folders = folders;
    this.#owner = owner;
  }

  /** True if the agent's folder answers. Otherwise resolves when it answers, or when `other` resolves. */
  async isOver({ workspace }: AgentView, other: () => Promise<void>): Promise<boolean> {
    if (await this.#folders.answers(workspace)) {
      this.#isTold = false;
      return true;
    }
    if (!this.#isTold) {
      this.#isTold = true;
      const message = `the file system of ${workspace} does not answer: the agent goes on when it does`;
      const error: AgentEventBody = { kind: "ERROR", severity: "WARN", phase: "SYSTEM", message, detail: FOLDER_HUNG };
      await this.#owner.commit(eventsOnly(error));
    }
    const woken = new AbortController();
    await Promise.race([this.#folders.answering(workspace, woken.signal), other()]);
    woken.abort();
    return false;
  }
}
