/** The bytes that may wait for a reader: further lines are dropped. */
const WAITING_BYTES = 1024 * 1024;

type LineStream = Pick<NodeJS.WriteStream, "write" | "on" | "writableLength">;

/**
 * Writes lines to a stream with a slow reader or none: the server does not wait, buffers a bounded amount, and survives
 * the stream's end.
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

  get lost(): number {
    return this.#lost;
  }

  write(line: string): void {
    if (this.#isClosed || this.#stream.writableLength > WAITING_BYTES) this.#lost += 1;
    else this.#stream.write(line);
  }
}
