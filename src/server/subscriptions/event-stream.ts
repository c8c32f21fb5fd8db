import { Readable } from "node:stream";
import { isAsyncIterable, type FetchAPI, type Plugin } from "graphql-yoga";
import { BACKED_UP_BYTES, type Ending, type Line } from "../../events/reading/reader.ts";
import type { ShowFailure } from "./failure.ts";

/** The time between two comments that keep a silent stream open, in ms. */
const PING_MS = 12_000;
const PING = Buffer.from(":\n\n");
const COMPLETE = Buffer.from("event: complete\ndata:\n\n");
const HEADERS = {
  "content-type": "text/event-stream",
  connection: "keep-alive",
  // Neither a proxy nor nginx delays or compresses the stream.
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
  "content-encoding": "none",
};

/** The subscriptions over HTTP: each is answered as server-sent events (GraphQL over SSE, distinct connections mode). */
export class EventStreams {
  readonly #show: ShowFailure;
  readonly #streams = new WeakMap<Request, EventStream>();

  constructor(show: ShowFailure) {
    this.#show = show;
  }

  readonly plugin: Plugin = {
    onResultProcess: ({ request, result, setResultProcessor }) => {
      if (!isAsyncIterable(result)) return;
      const stream = this.#streamOf(request);
      const leave = (): void => void result[Symbol.asyncIterator]().return?.();
      const answer = (_answers: unknown, fetchAPI: FetchAPI): Response => stream.response(leave, fetchAPI);
      setResultProcessor(answer, "text/event-stream");
    },
  };

  lineOf(request: Request): Line {
    return this.#streamOf(request);
  }

  #streamOf(request: Request): EventStream {
    const stream = this.#streams.get(request) ?? new EventStream(this.#show);
    this.#streams.set(request, stream);
    return stream;
  }
}

/**
 * The answers of one subscription, as the body of a response. The body pulls one piece at a time, when all earlier ones
 * are sent: waiting pieces are queued here.
 */
class EventStream implements Line {
  readonly #show: ShowFailure;
  readonly #body = new Readable({
    highWaterMark: 0,
    read: () => {
      this.#pinging ??= setInterval(() => {
        if (this.#isDrained()) this.#add(PING);
      }, PING_MS).unref();
      this.#isAsked = true;
      this.#give();
    },
  });
  /** Runs from the first pull: the body of a client that left earlier never pulls. */
  #pinging: NodeJS.Timeout | null = null;
  /** Browsers report an open stream only after its first bytes. */
  readonly #pieces: Buffer[] = [PING];
  #bytes = PING.length;
  #isAsked = false;
  #isEnding = false;
  #waiting: PromiseWithResolvers<void> | null = null;

  constructor(show: ShowFailure) {
    this.#show = show;
    this.#body.once("close", () => {
      clearInterval(this.#pinging ?? undefined);
      this.#wake();
    });
  }

  response(leave: () => void, { Response: FetchResponse }: FetchAPI): Response {
    this.#body.once("close", leave);
    // Yoga's server pipes a stream of Node as it is.
    return new FetchResponse(this.#body as unknown as ReadableStream, { headers: HEADERS });
  }

  get waitingBytes(): number {
    return this.#bytes;
  }

  send(answer: Uint8Array): boolean {
    if (this.#body.destroyed) return false;
    this.#add(eventOf(answer));
    return this.#bytes <= BACKED_UP_BYTES;
  }

  async drained(signal: AbortSignal): Promise<void> {
    const wake = (): void => this.#wake();
    signal.addEventListener("abort", wake);
    while (!this.#isDrained() && !this.#body.destroyed && !signal.aborted)
      await (this.#waiting ??= Promise.withResolvers()).promise;
    signal.removeEventListener("abort", wake);
  }

  end(ending: Ending): void {
    if (ending.kind === "failed") {
      const { answer, closes } = this.#show(ending.error);
      // Without `complete`, its client connects again.
      if (closes === "connect_again") return void this.#body.destroy();
      this.send(Buffer.from(JSON.stringify(answer)));
    }
    this.#isEnding = true;
    this.#add(COMPLETE);
  }

  #isDrained(): boolean {
    return this.#isAsked && this.#pieces.length === 0;
  }

  #add(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    this.#give();
  }

  #give(): void {
    if (!this.#isAsked) return;
    const piece = this.#pieces.shift();
    if (piece === undefined) return this.#isEnding ? void this.#body.push(null) : this.#wake();
    this.#bytes -= piece.length;
    this.#isAsked = false;
    this.#body.push(piece);
  }

  #wake(): void {
    this.#waiting?.resolve();
    this.#waiting = null;
  }
}

const events = new WeakMap<Uint8Array, Buffer>();

/** The event of an answer, shared by all streams that send the same bytes. */
function eventOf(answer: Uint8Array): Buffer {
  const known = events.get(answer);
  if (known !== undefined) return known;
  const event = Buffer.concat([Buffer.from("event: next\ndata: "), answer, Buffer.from("\n\n")]);
  events.set(answer, event);
  return event;
}
