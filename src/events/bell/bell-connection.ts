import pg from "pg";
import { queryPrepared } from "../../db/connections/prepared-query.ts";
import type { Statement } from "../../db/sql.ts";
import type { Logger } from "../../telemetry/log.ts";
import { withCause } from "../../lib/text.ts";

const CHANNEL = "triplane";
const RECONNECT_MS = 500;

// A name in the connection's options could be overridden by the URL's parameters or a pooler.
const NAME: Statement = { name: "name_bell", text: "SELECT set_config('application_name', $1, false)" };
const NOTIFY: Statement = { name: "tell", text: "SELECT pg_notify($1, $2)" };

export type BellListener = {
  connected(): void;
  ended(): void;
  heard(payload: string): void;
};

export type BellConnectionOptions = { readonly url: string; readonly name: string; readonly answerMs: number };

export class BellConnection {
  readonly #options: BellConnectionOptions;
  readonly #logger: Logger;
  readonly #listener: BellListener;
  #client: pg.Client | null = null;
  #connecting: Promise<void>;
  #reconnecting: NodeJS.Timeout | null = null;
  #isClosed = false;
  #isMissing = false;

  constructor(options: BellConnectionOptions, logger: Logger, listener: BellListener) {
    this.#options = options;
    this.#logger = logger;
    this.#listener = listener;
    this.#connecting = this.#connect();
  }

  get isConnected(): boolean {
    return this.#client !== null;
  }

  /** Notifies all listeners, this server too. Failed notifications are lost. */
  async notify(payload: string): Promise<void> {
    await this.ask(NOTIFY, [CHANNEL, payload]);
  }

  /** The rows of an answer; none if the database does not answer, which ends the connection. */
  async ask<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<readonly Row[]> {
    const asked = this.#client;
    if (asked === null) return [];
    try {
      return await queryPrepared(asked, statement, values, this.#options.answerMs);
    } catch (error) {
      if (this.#client !== asked) return [];
      this.#logger.warn(`the bell's connection does not answer (${withCause(error)}); it is made anew`);
      this.#client = null;
      await asked.end();
      return [];
    }
  }

  async settle(): Promise<void> {
    this.#isClosed = true;
    if (this.#reconnecting !== null) clearTimeout(this.#reconnecting);
    await this.#connecting;
  }

  async end(): Promise<void> {
    await this.#client?.end();
  }

  async #connect(): Promise<void> {
    const { url, name, answerMs } = this.#options;
    const client = new pg.Client({
      connectionString: url,
      keepAlive: true,
      connectionTimeoutMillis: answerMs,
    });
    client.on("error", () => {});
    client.on("notification", ({ payload }) => this.#listener.heard(payload ?? ""));
    client.on("end", () => {
      if (this.#client === client) this.#client = null;
      this.#listener.ended();
      this.#reconnect();
    });
    try {
      await client.connect();
      await queryPrepared(client, NAME, [name], answerMs);
      const listen = { text: `LISTEN ${CHANNEL}`, query_timeout: answerMs };
      await client.query(listen);
      this.#client = client;
      this.#isMissing = false;
      this.#listener.connected();
    } catch (error) {
      if (!this.#isMissing)
        this.#logger.warn(`the bell does not hear other servers (${withCause(error)}); the poll stands in for it`);
      this.#isMissing = true;
      await client.end().catch(() => {});
      this.#reconnect();
    }
  }

  #reconnect(): void {
    if (this.#isClosed || this.#reconnecting !== null) return;
    this.#reconnecting = setTimeout(() => {
      this.#reconnecting = null;
      this.#connecting = this.#connect();
    }, RECONNECT_MS);
  }
}
