import { LRUCache } from "lru-cache";

const A_MINUTE = 30;
const MINUTE_MS = 60_000;
const KINDS = 500;

/** The parts that differ between lines of one kind: ids, numbers, quoted names, and reasons in brackets. */
const DIFFERS = /[0-9a-f]{8}-[0-9a-f-]{27}|"[^"]*"|\([^)]*\)|\S*\d\S*/g;

type Written = { since: number; lines: number; leftOut: number };

/** Limits the rate of lines of one kind: a fault that occurs a thousand times a second hides no other, and fills no disk. */
export class LineLimit {
  readonly #kinds = new LRUCache<string, Written>({ max: KINDS });
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** True if the line may be written. `tell` is called before the first line after dropped ones, with their number. */
  take(message: string, tell: (leftOut: number) => void): boolean {
    const kind = message.replace(DIFFERS, "#").slice(0, 200);
    const now = this.#now();
    const written = this.#kinds.get(kind);
    if (written === undefined || now - written.since >= MINUTE_MS) {
      this.#kinds.set(kind, { since: now, lines: 1, leftOut: 0 });
      const leftOut = written?.leftOut ?? 0;
      if (leftOut > 0) tell(leftOut);
      return leftOut === 0;
    }
    if (written.lines >= A_MINUTE) {
      written.leftOut += 1;
      return false;
    }
    written.lines += 1;
    return true;
  }
}
