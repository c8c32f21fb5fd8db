import pg from "pg";
import { connectionName, NO_OTHER_BELL } from "../db/connected-servers.ts";
import type { Logger } from "../lib/log.ts";
import { withCause } from "../lib/text.ts";

/** A tenant whose log has grown, and whether an agent of it may go on, or must look at its rows. */
export type Ring = { readonly tenant: string; readonly isSignal: boolean };

/** Tells other servers that a tenant's log has grown. A hint: it may be lost or ring for nothing, and carries no content. */
export type Bell = {
  /** Rings on the other servers that are known to be there, within 20 ms. */
  ring(ring: Ring): void;
  /** Hears the rings of the other servers; none means that any may have been missed. Returns the end of listening. */
  listen(listener: (rings: readonly Ring[]) => void): () => void;
  /** True if rings are heard now. While not, the net beneath (a poll) must be faster. */
  isConnected(): boolean;
  /** Sends what was rung, and ends. */
  close(): Promise<void>;
};

/** The times of the bell's connection, in ms: how often it is asked whether it lives, and how long an answer may take. */
export type BellTimes = { readonly heartbeatMs: number; readonly answerMs: number };

/** The times of production. An answer may take longer than a stall of the database that agents survive. */
const BELL_TIMES: BellTimes = { heartbeatMs: 5_000, answerMs: 5_000 };

const CHANNEL = "triplane";
const COALESCE_MS = 20;
const RECONNECT_MS = 500;
/** A NOTIFY of 8000 bytes or more would fail. */
const PAYLOAD_BYTES = 7_000;
const SIGNAL = "!";
const TEXT = ".";

/** The bell of a deployment of one process: there is nobody else to ring for. */
export function silentBell(): Bell {
  return { ring: () => {}, listen: () => () => {}, isConnected: () => true, close: async () => {} };
}

/**
 * The bell of a deployment of several processes on one PostgreSQL: one dedicated connection that listens and sends.
 * Rings are coalesced for 20 ms and sent outside of every append's transaction, since a NOTIFY in it takes a global
 * lock at COMMIT. When the connection is lost, or does not answer, it is made again, and listeners
 * are told that they may have missed any. While no other server is connected, nothing is sent: a server that comes says so, and
 * if something was not sent before, the others say that it may have missed any. A server of a version that does not say so is
 * seen by the next heartbeat; until then its poll stands in.
 */
export function postgresBell(
  url: string,
  version: string,
  serverId: string,
  logger: Logger,
  times: BellTimes = BELL_TIMES,
): Bell {
  const name = connectionName(version, "bell");
  const listeners = new Set<(rings: readonly Ring[]) => void>();
  /** By tenant, whether any of its rings was a signal. */
  const rung = new Map<string, boolean>();
  let client: pg.Client | null = null;
  let coalescing: NodeJS.Timeout | null = null;
  let sent = Promise.resolve();
  let reconnecting: NodeJS.Timeout | null = null;
  let connecting = connect();
  let isClosed = false;
  const heartbeat = setInterval(() => {
    sent = sent.then(look);
  }, times.heartbeatMs).unref();
  /** True if it was said that nothing is heard. */
  let isSilent = false;
  /** The number of notifications of other servers until now. */
  let heard = 0;
  /** True if no other server is connected, so that nothing is sent. */
  let isAlone = false;
  /** True if something was rung and not sent. */
  let isUnsent = false;

  async function connect(): Promise<void> {
    const next = new pg.Client({
      connectionString: url,
      keepAlive: true,
      connectionTimeoutMillis: times.answerMs,
      query_timeout: times.answerMs,
    });
    next.on("error", () => {});
    next.on("notification", ({ payload }) => {
      const [sender, ...lines] = (payload ?? serverId).split("\n");
      if (sender === serverId) return;
      heard += 1;
      accompanied();
      listeners.forEach((listener) => listener(lines.map(ringOf)));
    });
    next.on("end", () => {
      if (client === next) client = null;
      isAlone = false;
      reconnect();
    });
    try {
      await next.connect();
      // The others know a bell by its name, which parameters of the URL or a pooler would replace in what opens the connection.
      await next.query("SELECT set_config('application_name', $1, false)", [name]);
      await next.query(`LISTEN ${CHANNEL}`);
      client = next;
      isSilent = false;
      sent = sent.then(() => notify(serverId)).then(look);
      listeners.forEach((listener) => listener([]));
    } catch (error) {
      if (!isSilent) logger.warn(`the bell does not hear other servers (${withCause(error)}); the poll stands in for it`);
      isSilent = true;
      await next.end().catch(() => {});
      reconnect();
    }
  }

  function reconnect(): void {
    if (isClosed || reconnecting !== null) return;
    reconnecting = setTimeout(() => {
      reconnecting = null;
      connecting = connect();
    }, RECONNECT_MS);
  }

  /** Asks of the connection, and answers the rows; one that does not answer is given up, and a new one made. */
  async function ask<Row extends pg.QueryResultRow>(text: string, values: readonly unknown[]): Promise<readonly Row[]> {
    const asked = client;
    if (asked === null) return [];
    try {
      return (await asked.query<Row>(text, [...values])).rows;
    } catch (error) {
      if (client !== asked) return [];
      logger.warn(`the bell's connection does not answer (${withCause(error)}); it is made anew`);
      client = null;
      await asked.end();
      return [];
    }
  }

  async function notify(payload: string): Promise<void> {
    await ask("SELECT pg_notify($1, $2)", [CHANNEL, payload]);
  }

  /** Asks whether other servers are connected, and so whether the connection lives. */
  async function look(): Promise<void> {
    const before = heard;
    const [answer] = await ask<{ alone: boolean }>(NO_OTHER_BELL, []);
    // A server that came meanwhile may be missing in the answer.
    if (answer?.alone === true && heard === before) isAlone = true;
    else accompanied();
  }

  /** Another server is there, or may be: it has missed what was not sent. */
  function accompanied(): void {
    isAlone = false;
    if (isUnsent) sent = sent.then(() => notify(serverId));
    isUnsent = false;
  }

  /** Sends what was rung, one after the other. A ring that cannot be sent is lost: the poll of the other servers stands in for it. */
  async function send(before: Promise<void>): Promise<void> {
    await before;
    const lines = [...rung].map(([tenant, isSignal]) => lineOf({ tenant, isSignal }));
    rung.clear();
    for (const payload of payloads(serverId, lines)) await notify(payload);
  }

  return {
    ring({ tenant, isSignal }) {
      isUnsent ||= isAlone;
      if (isAlone) return;
      rung.set(tenant, isSignal || rung.get(tenant) === true);
      coalescing ??= setTimeout(() => {
        coalescing = null;
        sent = send(sent);
      }, COALESCE_MS);
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    isConnected: () => client !== null,
    async close() {
      isClosed = true;
      clearInterval(heartbeat);
      if (coalescing !== null) clearTimeout(coalescing);
      if (reconnecting !== null) clearTimeout(reconnecting);
      await connecting;
      // What was given back last must be heard of, also by a server that nobody has seen yet.
      accompanied();
      await send(sent);
      await client?.end();
    },
  };
}

/** A ring as a line: a sign, and the tenant. */
function lineOf({ tenant, isSignal }: Ring): string {
  return `${isSignal ? SIGNAL : TEXT}${tenant}`;
}

function ringOf(line: string): Ring {
  return { tenant: line.slice(1), isSignal: line.startsWith(SIGNAL) };
}

/** The server and the rings, a line each, in as many payloads as their size needs. */
function* payloads(serverId: string, lines: readonly string[]): Generator<string> {
  let payload = serverId;
  for (const line of lines) {
    if (Buffer.byteLength(payload) + Buffer.byteLength(line) + 1 > PAYLOAD_BYTES) {
      yield payload;
      payload = serverId;
    }
    payload += `\n${line}`;
  }
  if (payload !== serverId) yield payload;
}
