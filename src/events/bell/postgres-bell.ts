import { connectionName, NO_OTHER_BELL } from "../../db/connected-servers.ts";
import type { Logger } from "../../telemetry/log.ts";
import type { Bell, Ring } from "./bell.ts";
import { BellConnection } from "./bell-connection.ts";
import { emptyPayload, payloadsOf, toldIn } from "./payload.ts";

/** The times of the bell's connection, in ms: how often it is asked whether it lives, and how long an answer may take. */
export type BellTimes = { readonly heartbeatMs: number; readonly answerMs: number };

/** The times of production. An answer may take longer than a stall of the database that agents survive. */
const BELL_TIMES: BellTimes = { heartbeatMs: 5_000, answerMs: 5_000 };

const COALESCE_MS = 20;

/**
 * The bell of a deployment of several processes on one PostgreSQL: one dedicated connection that listens and tells.
 * Rings are coalesced for 20 ms and sent outside of every append's transaction, since a NOTIFY in it takes a global
 * lock at COMMIT. When a connection was made again, listeners are told that they may have missed any.
 *
 * While no other server is connected, nothing is sent: a server that comes says so, and if something was not sent before,
 * the others say that it may have missed any. A server of a version that does not say so is seen by the next heartbeat;
 * until then its poll stands in.
 */
export class PostgresBell implements Bell {
  readonly #serverId: string;
  readonly #connection: BellConnection;
  readonly #heartbeat: NodeJS.Timeout;
  readonly #listeners = new Set<(rings: readonly Ring[]) => void>();
  /** By tenant, whether any of its rings was a signal. */
  readonly #rung = new Map<string, boolean>();
  #coalescing: NodeJS.Timeout | null = null;
  /** What is asked of the connection goes one after the other. */
  #sent: Promise<void> = Promise.resolve();
  /** The number of times that other servers were heard. */
  #heard = 0;
  /** True if no other server is connected, so that nothing is sent. */
  #isAlone = false;
  /** True if something was rung and not sent. */
  #isUnsent = false;

  /** `version` is that of the schema that the server knows. */
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
    // What was given back last must be heard of, also by a server that nobody has seen yet.
    this.#accompanied();
    this.#then(() => this.#send());
    await this.#sent;
    await this.#connection.end();
  }

  #then(work: () => Promise<void>): void {
    this.#sent = this.#sent.then(work);
  }

  #connected(): void {
    this.#then(() => this.#connection.tell(emptyPayload(this.#serverId)));
    this.#then(() => this.#look());
    this.#hear([]);
  }

  #take(payload: string): void {
    const { serverId, rings } = toldIn(payload);
    if (serverId === this.#serverId) return;
    this.#heard += 1;
    this.#accompanied();
    this.#hear(rings);
  }

  #hear(rings: readonly Ring[]): void {
    for (const listener of this.#listeners) listener(rings);
  }

  /** Asks whether other servers are connected, and so whether the connection lives. */
  async #look(): Promise<void> {
    const before = this.#heard;
    const [answer] = await this.#connection.ask(NO_OTHER_BELL, []);
    // A server that came meanwhile may be missing in the answer.
    if (answer?.alone === true && this.#heard === before) this.#isAlone = true;
    else this.#accompanied();
  }

  /** Another server is there, or may be: it has missed what was not sent. */
  #accompanied(): void {
    this.#isAlone = false;
    if (this.#isUnsent) this.#then(() => this.#connection.tell(emptyPayload(this.#serverId)));
    this.#isUnsent = false;
  }

  /** Sends what was rung. A ring that cannot be sent is lost: the poll of the other servers stands in for it. */
  async #send(): Promise<void> {
    const rings = [...this.#rung].map(([tenant, isSignal]) => ({ tenant, isSignal }));
    this.#rung.clear();
    for (const payload of payloadsOf({ serverId: this.#serverId, rings })) await this.#connection.tell(payload);
  }
}
