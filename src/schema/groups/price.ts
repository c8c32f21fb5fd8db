import type { FieldComplexityValue } from "@pothos/plugin-complexity";
import { DEFAULT_GROUPS, MOST_GROUPS, MOST_POINTS, type GroupRange } from "../../resolvers/groups/buckets.ts";
import type { BucketUnit } from "../../lib/time-buckets.ts";
import { DAY_MS, HOUR_MS } from "../../lib/time.ts";
import { sizeOf } from "../price.ts";

const STATISTICS = 500;
/** Figures of a bucket that cost one point: they are narrow. */
const FIGURES_A_POINT = 10;

const USUAL_MS: Readonly<Record<BucketUnit, number>> = { HOUR: HOUR_MS, DAY: DAY_MS, WEEK: 7 * DAY_MS, MONTH: 30 * DAY_MS };

/** The price of groups: that of statistics, of the figures of all buckets, and of each group. */
export function groupsPrice(args: Partial<GroupRange> & { readonly first?: number | null | undefined }): FieldComplexityValue {
  const groups = sizeOf(args, DEFAULT_GROUPS, MOST_GROUPS);
  const { from, to, bucket } = args;
  const span = from && bucket ? (to?.getTime() ?? Date.now()) - from.getTime() : 0;
  const buckets = bucket ? Math.max(0, Math.ceil(span / USUAL_MS[bucket.unit])) : 0;
  return { field: STATISTICS + Math.ceil(Math.min(groups * buckets, MOST_POINTS) / FIGURES_A_POINT), multiplier: groups };
}
