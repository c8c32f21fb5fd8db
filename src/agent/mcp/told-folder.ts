import { aborted } from "../../lib/aborted.ts";
import { QuestionRefused } from "./asking/elicitation.ts";

export type ToldFolderParts = {
  /** True: the server is told of another folder before a call in it. */
  readonly isTold: boolean;
  /** Tells the server that its roots have changed. Resolves with false if it does not ask for them then. */
  readonly tell: () => Promise<boolean>;
};

/** The reason for a call that is refused while a person is asked for one in another folder. */
const ASKING =
  "the server asks a person for a call in another folder, and takes none here before the answer: it was not called, so call it again later";

/** The reason why a call in a folder that the server may not know was not made. */
const UNTOLD = "the call was not made: the server did not ask for its roots in time, so it may still work in another folder";

type Waiting = { readonly folder: string; readonly enter: () => void };

/**
 * The folder that a server was told of, in answer to its question for roots. A server of the older generation asks for no
 * single call, and keeps the answer. So if it is told and has asked once, calls in one folder run concurrently, and those
 * in another one wait until these have ended. Then the server is told anew. A call
 * fails if the server does not ask then.
 */
export class ToldFolder {
  readonly #parts: ToldFolderParts;
  /** The folders of the calls under way. */
  readonly #running: string[] = [];
  readonly #waiting: Waiting[] = [];
  #folder: string | null = null;
  #telling: Promise<void> = Promise.resolve();
  #keepsFolder = false;
  /** The number of open questions to people. */
  #asking = 0;

  constructor(parts: ToldFolderParts) {
    this.#parts = parts;
  }

  /** The answer to the server's question: the folder of all calls under way; null if there is none, or there are several. */
  asked(): string | null {
    const [folder = null, ...others] = new Set(this.#running);
    this.#keepsFolder = this.#parts.isTold;
    this.#folder = others.length === 0 ? folder : null;
    return this.#folder;
  }

  /** Does the work of a call in a folder, when the server knows the folder. */
  async during<Result>(folder: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    await this.#enter(folder, signal);
    try {
      if (this.#keepsFolder) await this.#toldOf(folder);
      signal.throwIfAborted();
      return await work();
    } finally {
      this.#running.splice(this.#running.indexOf(folder), 1);
      this.#admit();
    }
  }

  /** Asks a person for a call under way. Calls in other folders are refused meanwhile: an answer may take an hour. */
  async asking<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    if (this.#waiting.length > 0)
      throw new QuestionRefused("calls in another folder wait for this one (`roots` is told): nobody is asked");
    this.#asking += 1;
    try {
      return await ask();
    } finally {
      this.#asking -= 1;
    }
  }

  async #enter(folder: string, signal: AbortSignal): Promise<void> {
    if (this.#waiting.length === 0 && this.#mayEnter(folder)) return void this.#running.push(folder);
    if (this.#asking > 0) throw new Error(ASKING);
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting: Waiting = { folder, enter: resolve };
    this.#waiting.push(waiting);
    using stopped = aborted(signal);
    try {
      await Promise.race([promise, stopped.promise]);
    } catch (error) {
      const place = this.#waiting.indexOf(waiting);
      if (place >= 0) this.#waiting.splice(place, 1);
      else this.#running.splice(this.#running.indexOf(folder), 1);
      this.#admit();
      throw error;
    }
  }

  #admit(): void {
    for (let [first] = this.#waiting; first !== undefined && this.#mayEnter(first.folder); [first] = this.#waiting) {
      this.#waiting.shift();
      this.#running.push(first.folder);
      first.enter();
    }
  }

  #mayEnter(folder: string): boolean {
    return !this.#keepsFolder || this.#running.every((each) => each === folder);
  }

  /** Calls that enter together wait for one answer. */
  #toldOf(folder: string): Promise<void> {
    const before = this.#telling.catch(() => {});
    this.#telling = before.then(async () => {
      if (this.#folder === folder || !this.#keepsFolder) return;
      if (!(await this.#parts.tell()) || this.#folder !== folder) throw new Error(UNTOLD);
    });
    return this.#telling;
  }
}
