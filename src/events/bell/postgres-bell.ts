import { connectionName, NO_OTHER_BELL } from "../../db/connected-servers.ts";
import type { Logger } from "../../telemetry/log.ts";
import { BellConnection } from "./bell-connection.ts";
import type { Bell, Ring } from "./bell.ts";

/** The times of the bell's connection, in ms: between heartbeats, and the limit of an answer. */
export type BellTimes = { readonly heartbeatMs: number; readonly answerMs: number };

/** The times of production. The limit exceeds a stall of the database that agents survive. */
const BELL_TIMES: BellTimes = { heartbeatMs: 5_000, answerMs: 5_000 };

const COALESCE_MS = 20;

/**
 * The bell of several servers on one PostgreSQL: one dedicated connection that listens and notifies. Rings are
 * coalesced for 20 ms and sent outside of the appends' transactions, since a NOTIFY inside takes a global lock at
 * COMMIT. After a reconnect, listeners learn that they may have missed rings.
 *
 * While no other server is connected, nothing is sent. A server that arrives says so, and the others answer that it may
 * have missed rings. A server of a version that does not say so is found by the next heartbeat; until then its poll
 * stands in.
 */
export class PostgresBell implements Bell {
  readonly #serverId: string;
  readonly #connection: BellConnection;
  readonly #heartbeat: NodeJS.Timeout;
  readonly #listeners = new Set<(rings: readonly Ring[]) => void>();
  readonly #rung = new Map<string, boolean>();
  #coalescing: NodeJS.Timeout | null = null;
  #sent: Promise<void> = Promise.resolve();
  #heard = 0;
  #isAlone = false;
  #isUnsent = false;

  constructor(url: string, version: string, serverId: string, logger: Logger, times: BellTimes = BELL_TIMES) {
    this.#serverId = serverId;
    this.#connection = new BellConnection({ url, name: connectionName(version, "bell"), answerMs: times.answerMs }, logger, {
      connected: () => this.#connected(),
      ended: () => void (this.#isAlone = false),
      heard: (payload) => this.#take(payload),
    });
    this.#heartbeat = setInterval(() => this.#then(() => this.#look()), times.heartbeatMs).unref();
  }

  ring({ tenant, isSignal }: Ring): void {
    this.#isUnsent ||= this.#isAlone;
    if (this.#isAlone) return;
    this.#rung.set(tenant, isSignal || this.#rung.get(tenant) === true);
    this.#coalescing ??= setTimeout(() => {
      this.#coalescing = null;
      this.#then(() => this.#send());
    }, COALESCE_MS);
  }

  listen(listener: (rings: readonly Ring[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  isConnected(): boolean {
    return this.#connection.isConnected;
  }

  async close(): Promise<void> {
    clearInterval(this.#heartbeat);
    if (this.#coalescing !== null) clearTimeout(this.#coalescing);
    await this.#connection.settle();
    // The last releases must reach also a server that was not seen yet.
    this.#accompanied();
    this.#then(() => this.#send());
    await this.#sent;
    await this.#connection.end();
  }

  #then(work: () => Promise<void>): void {
    this.#sent = this.#sent.then(work);
  }

  #connected(): void {
    this.#then(() => this.#connection.notify(emptyPayload(this.#serverId)));
    this.#then(() => this.#look());
    this.#hear([]);
  }

  #take(payload: string): void {
    const { serverId, rings } = messageIn(payload);
    if (serverId === this.#serverId) return;
    this.#heard += 1;
    this.#accompanied();
    this.#hear(rings);
  }

  #hear(rings: readonly Ring[]): void {
    for (const listener of this.#listeners) listener(rings);
  }

  async #look(): Promise<void> {
    const before = this.#heard;
    const [answer] = await this.#connection.ask(NO_OTHER_BELL, []);
    // The answer may lack a server that arrived meanwhile.
    if (answer?.alone === true && this.#heard === before) this.#isAlone = true;
    else this.#accompanied();
  }

  #accompanied(): void {
    this.#isAlone = false;
    if (this.#isUnsent) this.#then(() => this.#connection.notify(emptyPayload(this.#serverId)));
    this.#isUnsent = false;
  }

  async #send(): Promise<void> {
    const rings = [...this.#rung].map(([tenant, isSignal]) => ({ tenant, isSignal }));
    this.#rung.clear();
    for (const payload of payloadsOf({ serverId: this.#serverId, rings })) await this.#connection.notify(payload);
  }
}

/** A NOTIFY of 8000 bytes or more would fail. */
const PAYLOAD_BYTES = 7_000;
const SIGNAL = "!";
const TEXT = ".";

/** A message to other servers; without rings it means that any may have been missed. */
export type BellMessage = { readonly serverId: string; readonly rings: readonly Ring[] };

function emptyPayload(serverId: string): string {
  return serverId;
}

/** The server and the rings, a line each, in as many payloads as their size needs; none without rings. */
function* payloadsOf({ serverId, rings }: BellMessage): Generator<string> {
  let payload = serverId;
  for (const { tenant, isSignal } of rings) {
    const line = `\n${isSignal ? SIGNAL : TEXT}${tenant}`;
    if (Buffer.byteLength(payload) + Buffer.byteLength(line) > PAYLOAD_BYTES) {
      yield payload;
      payload = serverId;
    }
    payload += line;
  }
  if (payload !== serverId) yield payload;
}

function messageIn(payload: string): BellMessage {
  const [serverId = "", ...lines] = payload.split("\n");
  return { serverId, rings: lines.map((line) => ({ tenant: line.slice(1), isSignal: line.startsWith(SIGNAL) })) };
}
