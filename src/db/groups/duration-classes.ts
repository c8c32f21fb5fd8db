/**
 * Numbers of times by class, as one `numeric` that `sum` adds up. Class k has the times up to STEP^k × LEAST ms, and
 * eight decimal digits from 10^8k. Class 0 has the times up to LEAST ms, as 0 (docs/adr/0057).
 */
const LEAST_MS = 0.001;
const STEP = 1.04;
/** Longer times, of over thirty years, are of the last class. */
const MOST_MS = 1e12;
/** Digits of a class, in the base of PostgreSQL's numbers. */
const DIGITS = 2;
const BASE = 10_000;

/** The greatest relative error of a percentile: half a class, and the rounding of its edges. */
export const RELATIVE_ERROR = 0.02;

/** One time in ms as the number of its class; null for null. */
export function classSql(ms: string): string {
  const place = `ceil(ln(least(${ms}, ${MOST_MS}) / ${LEAST_MS}) / ln(${STEP}::float8))::int`;
  return `CASE WHEN ${ms} > ${LEAST_MS} THEN ('1e' || 8 * ${place})::numeric WHEN ${ms} IS NOT NULL THEN 1 END`;
}

/** SQL of the percentile of `count` times, to sort by. */
export function percentileSql(classes: string, count: string, fraction: number): string {
  return `percentile_of_classes(${classes}, ${count}, ${fraction})`;
}

/** The SQL by which `percentilesOf` gets the classes. */
export function sentSql(classes: string): string {
  return `numeric_send(${classes})`;
}

/**
 * Percentiles of `count` times, interpolated as by `percentile_cont`. Null if a class has more times than its digits
 * hold. `most` is the longest time.
 */
export function percentilesOf(
  sent: Uint8Array,
  count: number,
  most: number,
  fractions: readonly number[],
): readonly number[] | null {
  const classes = classesOf(sent);
  if (classes.reduce((sum, { times }) => sum + times, 0) !== count) return null;
  const at = (rank: number): number => {
    let passed = 0;
    const found = classes.find(({ times }) => (passed += times) > rank);
    return Math.min(found?.ms ?? most, most);
  };
  return fractions.map((fraction) => {
    const rank = fraction * (count - 1);
    const [lower, upper] = [at(Math.floor(rank)), at(Math.ceil(rank))];
    return lower + (upper - lower) * (rank - Math.floor(rank));
  });
}

type Class = { readonly ms: number; times: number };

/** Classes with times, ascending, from the binary form of a `numeric`: four fields, and its digits from the highest. */
function classesOf(sent: Uint8Array): readonly Class[] {
  const view = new DataView(sent.buffer, sent.byteOffset, sent.byteLength);
  const weight = view.getInt16(2);
  const classes = new Map<number, number>();
  for (let index = view.getInt16(0) - 1; index >= 0; index -= 1) {
    const place = weight - index;
    const times = view.getInt16(8 + 2 * index) * (place % DIGITS === 0 ? 1 : BASE);
    const number = Math.floor(place / DIGITS);
    if (times > 0) classes.set(number, (classes.get(number) ?? 0) + times);
  }
  return [...classes].map(([number, times]) => ({ ms: number === 0 ? 0 : (LEAST_MS * STEP ** number * 2) / (STEP + 1), times }));
}
