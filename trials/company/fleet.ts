import { fromBundle } from "../bundle.ts";
import { SERVER_READY, start, type TrialProcess } from "../processes.ts";
import { PLACES, POINTS, type Place, type Point } from "./points.ts";
import type { Random } from "../hands/random.ts";

/** A death of a server: its point, the frequency with which the server comes to it, and its place in a commit. */
type Death = { readonly point: Point; readonly left: number; readonly place: Place };
/** A process that has loaded its modules, and the time that it took. */
type Loaded = { readonly process: TrialProcess; readonly tookMs: number };
type Life = { readonly process: TrialProcess; readonly url: string; death: Death | null };

/** The begin of each token: the trial looks for it in all output and rows. */
export const TOKEN_BEGIN = "tpcall_";

/** Deaths at all points, in the order of a call's life, and then at any. */
export function deathsOf(random: Random, count: number): Death[] {
  return Array.from({ length: count }, (_, index) => ({
    point: POINTS[index] ?? random.of(POINTS),
    // The places after the first eight are rare.
    left: index < 8 ? 1 + random.number(3) : 1,
    place: POINTS[index] === "during the result's commit" ? "during" : random.of(PLACES),
  }));
}

/** One death at the point. */
export function deathOf(point: Point): Death[] {
  return [{ point, left: 1, place: "before" }];
}

/** The servers that are loaded ahead, to take the place of those that die. */
const SPARES = 2;
/** The most starts of a server until one of them must listen. */
const STARTS = 4;

/**
 * Servers that die at their points, and others that take their place. A process loads its modules before it is needed, and
 * before the database is there: it begins when it is told its environment.
 */
export class Fleet {
  /** The times at which servers died, in ms since 1970, and their points. */
  readonly deaths: { readonly at: number; readonly point: Point }[] = [];
  /** The times at which a server lived again after all had died. */
  readonly returns: number[] = [];
  failedStarts = 0;
  /** The time that the slowest start of a server took, in ms: how busy the machine is. */
  slowestStartMs = 0;
  /** The text of a token in the output of servers, if there was one. */
  tokenInOutput: string | null = null;
  lines = 0;
  readonly #env: Promise<Readonly<Record<string, string>>>;
  readonly #spares: Promise<Loaded>[] = [];
  readonly #lives = new Set<Life>();
  readonly #onChange: (urls: readonly string[]) => void;
  readonly #onBroken: (error: unknown) => void;
  #planned: Death[] = [];
  #isOver = false;

  constructor(
    env: Promise<Readonly<Record<string, string>>>,
    onChange: (urls: readonly string[]) => void,
    onBroken: (error: unknown) => void,
  ) {
    this.#env = env;
    this.#onChange = onChange;
    this.#onBroken = onBroken;
  }

  get urls(): readonly string[] {
    return [...this.#lives].map(({ url }) => url);
  }

  /** The points at which living servers are to die. */
  get awaited(): readonly { readonly url: string; readonly point: Point }[] {
    return [...this.#lives].flatMap(({ url, death }) => (death === null ? [] : [{ url, point: death.point }]));
  }

  /** True while servers are still to die. */
  get isKilling(): boolean {
    return this.#planned.length > 0 || [...this.#lives].some(({ death }) => death !== null);
  }

  async begin(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.#live()));
  }

  /** Ends all servers. */
  async end(): Promise<void> {
    this.#isOver = true;
    const spares = await Promise.all(this.#spares);
    await Promise.all([...spares, ...this.#lives].map(({ process }) => process.kill()));
  }

  /** Gives each server its death, and those that are started in their place the next ones. */
  kill(deaths: readonly Death[]): void {
    this.#planned = [...deaths];
    for (const life of this.#lives) this.#plan(life);
    this.#loadAhead();
  }

  /** Lets all servers live. */
  spare(): void {
    this.#planned = [];
    for (const life of this.#lives) {
      life.death = null;
      life.process.tell("live");
    }
  }

  async #live(): Promise<void> {
    const life = await this.#started();
    if (this.#lives.size === 0 && this.deaths.length > 0) this.returns.push(Date.now());
    this.#lives.add(life);
    this.#plan(life);
    this.#loadAhead();
    this.#onChange(this.urls);
    void life.process.exited
      .then((code) => this.#ended(life, code))
      .catch((error: unknown) => {
        // A server that ends with the trial, while it starts, is no fault.
        if (!this.#isOver) this.#onBroken(error);
      });
  }

  /** A server that listens. One that cannot start, on a machine whose database does not answer in time, is started again, as supervisors do. */
  async #started(tries = STARTS): Promise<Life> {
    const { process, tookMs } = await (this.#spares.shift() ?? this.#load());
    const ready = process.says(SERVER_READY);
    const environment = JSON.stringify(await this.#env);
    const since = performance.now();
    process.tell(environment);
    const url = await ready.catch((error: unknown) => {
      if (tries === 1 || this.#isOver) throw error;
      this.failedStarts += 1;
      return null;
    });
    this.slowestStartMs = Math.max(this.slowestStartMs, tookMs + performance.now() - since);
    return url === null ? this.#started(tries - 1) : { process, url, death: null };
  }

  async #load(): Promise<Loaded> {
    // The bundle is made once, by whichever process comes first.
    await fromBundle();
    const since = performance.now();
    const process = await start("trials/company/server.ts", /^loaded$/, {}, (line) => this.#hear(line));
    return { process, tookMs: performance.now() - since };
  }

  /** Each server that is still to die is replaced. */
  #loadAhead(): void {
    const dying = [...this.#lives].filter(({ death }) => death !== null).length;
    const needed = Math.min(SPARES, this.#planned.length + dying);
    while (this.#spares.length < needed) this.#spares.push(this.#load());
  }

  #plan(life: Life): void {
    life.death = this.#planned.shift() ?? null;
    if (life.death === null) return;
    const { left, place, point } = life.death;
    life.process.tell(`die ${left} ${place} ${point}`);
  }

  async #ended(life: Life, code: number | null): Promise<void> {
    this.#lives.delete(life);
    this.#onChange(this.urls);
    // Ended with the trial.
    if (code === 0 || this.#isOver) return;
    if (code !== null || life.death === null) throw new Error(`a server ended with ${code}`);
    this.deaths.push({ at: Date.now(), point: life.death.point });
    await this.#live();
  }

  #hear(line: string): void {
    this.lines += 1;
    if (line.includes(TOKEN_BEGIN)) this.tokenInOutput ??= line.slice(0, 200);
  }
}
