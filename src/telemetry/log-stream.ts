/** The bytes that may wait until somebody reads them: what is more is left out. */
const WAITING_BYTES = 1024 * 1024;

/** A stream of whole lines, as process.stderr is one. */
type LineStream = Pick<NodeJS.WriteStream, "write" | "on" | "writableLength">;

/**
 * Writes lines to a stream that may have no reader, or a slow one: the server neither waits for it, nor keeps what it does not
 * take, nor ends when it goes.
 */
export class LogStream {
  readonly #stream: LineStream;
  #lost = 0;
  #isClosed = false;

  constructor(stream: LineStream) {
    this.#stream = stream;
    // Without a listener an error of the stream would end the process.
    stream.on("error", () => (this.#isClosed = true));
  }

  /** The number of lines that nobody took. */
  get lost(): number {
    return this.#lost;
  }

  write(line: string): void {
    if (this.#isClosed || this.#stream.writableLength > WAITING_BYTES) this.#lost += 1;
    else this.#stream.write(line);
  }
}
