import { bucketEdges, type BucketUnit } from "../../lib/time-buckets.ts";
import type { GraphQLError } from "graphql";
import type { Sql } from "../../db/sql.ts";
import { isZoneOfDatabase } from "../../db/time-zone.ts";
import { isTimeZone } from "../../lib/time.ts";
import { clientError } from "../context.ts";

/** The most buckets of an answer, and the most figures of all its groups and buckets. */
export const MOST_BUCKETS = 1_000;
export const MOST_POINTS = 20_000;
export const DEFAULT_GROUPS = 50;
export const MOST_GROUPS = 1_000;

export type BucketInput = { readonly unit: BucketUnit; readonly timeZone: string };

/** The half-open range of a request for groups, and its buckets. */
export type GroupRange = {
  readonly from?: Date | null | undefined;
  readonly to?: Date | null | undefined;
  readonly bucket?: BucketInput | null | undefined;
};

export type TimeBucket = { readonly from: Date; readonly to: Date; readonly isWhole: boolean };

/** The range that the groups have, and the edges of its buckets; null without buckets. */
export type ReadRange = { readonly from: Date | null; readonly to: Date | null; readonly edges: readonly number[] | null };

/** Throws BAD_USER_INPUT for a range, a zone or a number of buckets that no answer can have. */
export function readRange({ from = null, to = null, bucket = null }: GroupRange, groups: number, now: Date): ReadRange {
  const until = to ?? (bucket === null ? null : now);
  if (from !== null && until !== null && from >= until)
    throw clientError("BAD_USER_INPUT", `\`from\` (${from.toISOString()}) must be before \`to\` (${until.toISOString()})`);
  if (bucket === null) return { from, to, edges: null };
  const { unit, timeZone } = bucket;
  checkTimeZone("bucket.timeZone", timeZone);
  if (from === null || until === null)
    throw clientError("BAD_USER_INPUT", "`bucket` needs `from`: the start of the first bucket");
  const edges = bucketEdges(unit, timeZone, { from, to: until }, MOST_BUCKETS);
  if (edges === null)
    throw clientError(
      "BAD_USER_INPUT",
      `the range has more than ${MOST_BUCKETS} buckets of a ${unit}: shorten it, or use a longer unit`,
    );
  if ((edges.length - 1) * groups > MOST_POINTS)
    throw clientError(
      "BAD_USER_INPUT",
      `${groups} groups of ${edges.length - 1} buckets are more than ${MOST_POINTS} figures: lower \`first\`, or shorten the range`,
    );
  return { from, to: until, edges };
}

function checkTimeZone(argument: string, name: string): void {
  if (!isTimeZone(name)) throw noZone(argument, name);
}

/** Checks a zone that the database reckons in. */
export async function checkZoneOfDatabase(reads: Sql, argument: string, name: string): Promise<void> {
  if (!(await isZoneOfDatabase(reads, name))) throw noZone(argument, name);
}

function noZone(argument: string, name: string): GraphQLError {
  return clientError(
    "BAD_USER_INPUT",
    `\`${argument}\` names no time zone: ${JSON.stringify(name)}. Use a name such as Europe/Berlin or UTC`,
  );
}

/** The buckets between the edges. The range, and the present, may cut the first and the last ones. */
export function bucketsOf({ from, to, edges }: ReadRange, now: Date): readonly TimeBucket[] {
  if (edges === null || from === null || to === null) return [];
  const end = Math.min(to.getTime(), now.getTime());
  return edges.slice(1).map((edge, index) => {
    const start = edges[index] ?? edge;
    return { from: new Date(start), to: new Date(edge), isWhole: start >= from.getTime() && edge <= end };
  });
}

/** The moments of both half-open ranges. */
export function bothRanges(
  one: { readonly from: Date | null; readonly to: Date | null },
  other: { readonly from: Date | null; readonly to: Date | null },
): { readonly from: Date | null; readonly to: Date | null } {
  return { from: later(one.from, other.from), to: earlier(one.to, other.to) };
}

function later(one: Date | null, other: Date | null): Date | null {
  return one === null || (other !== null && other > one) ? other : one;
}

function earlier(one: Date | null, other: Date | null): Date | null {
  return one === null || (other !== null && other < one) ? other : one;
}
