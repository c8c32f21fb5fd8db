/**
 * The answer to a server's questions for roots. A server of the older generation asks for no single call. So it is told
 * the folder of its connection, or else the only one of the calls under way.
 */
export class AskedFolder {
  readonly #folder: string | null;
  /** The folders of the calls under way. */
  readonly #running: string[] = [];
  #wasAsked: () => void = () => {};
  /** Resolves after the first question. */
  readonly firstQuestion = new Promise<void>((resolve) => (this.#wasAsked = resolve));

  /** `folder` is that of all calls of the connection; null if they have several. */
  constructor(folder: string | null) {
    this.#folder = folder;
  }

  asked(): string | null {
    this.#wasAsked();
    const [running = null, ...others] = new Set(this.#running);
    return this.#folder ?? (others.length === 0 ? running : null);
  }

  /** The call is under way in this folder during `work`. */
  async during<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
    this.#running.push(folder);
    try {
      return await work();
    } finally {
      this.#running.splice(this.#running.indexOf(folder), 1);
    }
  }
}
