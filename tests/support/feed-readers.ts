import { onTestFinished } from "vitest";
import { OutageWatch, watched, type Sql } from "../../src/db/sql.ts";
import { silentBell } from "../../src/events/bell/bell.ts";
import type { Scope } from "../../src/events/cursor.ts";
import type { EventKind } from "../../src/events/event.ts";
import { EventLog } from "../../src/events/log.ts";
import type { Encoder } from "../../src/events/reading/answers.ts";
import { Feeds } from "../../src/events/reading/feed.ts";
import type { ReaderPage, Start } from "../../src/events/reading/pages.ts";
import { type Ending, type Line, Reader } from "../../src/events/reading/reader.ts";
import { Tails } from "../../src/events/reading/tails.ts";
import { testDatabase } from "./database.ts";
import { pageEncoder, pageOf } from "./followed.ts";
import { everything } from "./log.ts";
import { silentLogger } from "./silent-logger.ts";

/** A log, the feeds of a server, a switch that takes its database away, and the reads of the log, which can be held before they answer. */
export async function eventServer() {
  const { sql } = await testDatabase();
  const away = { is: false };
  const query: Sql["query"] = (statement, values) =>
    away.is
      ? Promise.reject(Object.assign(new Error("the connection was refused"), { code: "ECONNREFUSED" }))
      : sql.query(statement, values);
  const outages = new OutageWatch(() => query({ name: "probe", text: "SELECT 1" }, []));
  const reads: { count: number; held: Promise<void> | null } = { count: 0, held: null };
  const log = new EventLog(
    watched(
      (statement, values) => {
        if (statement.name !== "read_tenant") return query(statement, values);
        reads.count += 1;
        return query(statement, values).then(async (rows) => {
          await reads.held;
          return rows;
        });
      },
      { outages, keepsPrepared: true },
    ),
  );
  const tails = new Tails(log, silentBell(), silentLogger);
  onTestFinished(async () => {
    outages.giveUp();
    await tails.close();
  });
  return { log, tails, feeds: new Feeds(tails), away, outages, reads };
}

/** A reader: the pages that it was sent, the bytes of each, and the state of its line. */
export class TestReader implements Line {
  readonly waitingBytes = 0;
  readonly sent: Uint8Array[] = [];
  ending: Ending | null = null;
  isBackedUp = false;
  readonly reader: Reader;
  #isAdmitted = true;
  readonly #answers: boolean[] = [];
  #refuse: ((reason: unknown) => void) | null = null;
  readonly #waiting = new Set<() => void>();

  constructor() {
    this.reader = new Reader(
      this,
      {
        isFresh: () => this.#answers.shift() ?? this.#isAdmitted,
        refreshed: async () => {
          while (!this.#isAdmitted && !this.reader.isOver) await this.#change();
          return !this.reader.isOver;
        },
        watch: (refuse) => {
          this.#refuse = refuse;
          return () => {};
        },
      },
      () => this.#changed(),
    );
  }

  get pages(): readonly ReaderPage[] {
    return this.sent.map(pageOf);
  }

  get positions(): number[] {
    return this.pages.flatMap(({ events }) => events.map(({ position }) => position));
  }

  send(answer: Uint8Array): boolean {
    this.sent.push(answer);
    return !this.isBackedUp;
  }

  async drained(signal: AbortSignal): Promise<void> {
    const changed = (): void => this.#changed();
    signal.addEventListener("abort", changed);
    while (this.isBackedUp && !signal.aborted) await this.#change();
    signal.removeEventListener("abort", changed);
  }

  end(ending: Ending): void {
    this.ending = ending;
  }

  drain(): void {
    this.isBackedUp = false;
    this.#changed();
  }

  /** The places that it was told were the end of the log. */
  get ends(): number[] {
    return this.pages.filter(({ covered, head }) => covered === head.position).map(({ covered }) => covered);
  }

  /** Answers the next questions so, and from then on as it is admitted. */
  answerFirst(...fresh: readonly boolean[]): void {
    this.#answers.push(...fresh);
  }

  admit(isAdmitted: boolean): void {
    this.#isAdmitted = isAdmitted;
    this.#changed();
  }

  revoke(): void {
    this.#refuse?.(new Error("you are nobody"));
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve));
  }

  #changed(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    waiting.forEach((resolve) => resolve());
  }
}

/** Opens a reader of everything of a tenant, or of a scope, after a position, or elsewhere. */
export function openReader(
  feeds: Feeds,
  {
    scope = everything("one"),
    after = 0,
    start = { kind: "after", position: after, head: after },
    until = null,
    encoder = pageEncoder("the same"),
    reader = new TestReader(),
  }: {
    scope?: Scope;
    after?: number;
    start?: Start;
    until?: readonly EventKind[] | null;
    encoder?: Encoder;
    reader?: TestReader;
  } = {},
): TestReader {
  feeds.open({ scope, until, encoder }, start, reader.reader);
  return reader;
}

/** An encoder that counts the pages with events that it is asked for. */
export function countingEncoder(asks = "the same"): Encoder & { readonly answered: { count: number } } {
  const answered = { count: 0 };
  const encoder = pageEncoder(asks);
  return {
    asks,
    answered,
    answer: (page) => {
      if (page.events.length > 0) answered.count += 1;
      return encoder.answer(page);
    },
  };
}
