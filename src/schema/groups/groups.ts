import type { FieldComplexityValue } from "@pothos/plugin-complexity";
import type { ArgBuilder, FieldRef, ObjectRef } from "@pothos/core";
import type { Distribution as Times } from "../../db/groups/distribution.ts";
import type { BucketUnit as Unit } from "../../lib/time-buckets.ts";
import { DAY_MS, HOUR_MS } from "../../lib/time.ts";
import {
  DEFAULT_GROUPS,
  MOST_BUCKETS,
  MOST_GROUPS,
  MOST_POINTS,
  type GroupRange,
  type TimeBucket as Bucket,
} from "../../resolvers/groups/buckets.ts";
import { builder, described } from "../builder.ts";
import { sizeOf } from "../price.ts";

const BucketUnit = builder.enumType("BucketUnit", {
  description: "Length of a time bucket, by the clocks of its zone.",
  values: described<Unit>({
    HOUR: "From minute 0 to the next. A change of the clocks within an hour begins another bucket.",
    DAY: "A date: 23 to 25 hours where the clocks change.",
    WEEK: "From Monday to Sunday.",
    MONTH: "A month of the calendar.",
  }),
});

export const BucketInput = builder.inputType("BucketInput", {
  description: `Time buckets of an answer with groups, at most ${MOST_BUCKETS}.`,
  fields: (t) => ({
    unit: t.field({ type: BucketUnit, required: true, description: "Length of each bucket." }),
    timeZone: t.string({
      required: true,
      defaultValue: "UTC",
      description: "IANA zone of the buckets, for example `Europe/Berlin`. UTC if omitted.",
    }),
  }),
});

export const TimeBucket = builder.objectRef<Bucket>("TimeBucket").implement({
  description: "A half-open span of time: `from` is included, `to` is not.",
  fields: (t) => ({
    from: t.expose("from", { type: "DateTime", description: "First moment of the bucket." }),
    to: t.expose("to", { type: "DateTime", description: "First moment after the bucket." }),
    isWhole: t.exposeBoolean("isWhole", {
      description: "False if the range of the request begins or ends within the bucket, or if the bucket has not ended.",
    }),
  }),
});

/** A value between two times is interpolated, as by `percentile_cont` of SQL. */
export const Distribution = builder.objectRef<Times>("Distribution").implement({
  description:
    "Distribution of times in ms. All but `count` are null if there are none. Percentiles of groups cannot be added up.",
  fields: (t) => ({
    count: t.exposeInt("count", { description: "Number of times." }),
    mean: t.exposeFloat("mean", { nullable: true, description: "Mean." }),
    p50: t.float({ nullable: true, description: "Median.", resolve: ({ percentiles }) => percentiles?.[0] ?? null }),
    p90: t.float({ nullable: true, description: "90th percentile.", resolve: ({ percentiles }) => percentiles?.[1] ?? null }),
    p95: t.float({ nullable: true, description: "95th percentile.", resolve: ({ percentiles }) => percentiles?.[2] ?? null }),
    p99: t.float({ nullable: true, description: "99th percentile.", resolve: ({ percentiles }) => percentiles?.[3] ?? null }),
    relativeError: t.exposeFloat("relativeError", {
      description: "Bound of the relative error of the percentiles, for example 0.02. 0 if they are exact.",
    }),
    most: t.exposeFloat("most", { nullable: true, description: "Longest time." }),
  }),
});

type Types = (typeof builder)["$inferSchemaTypes"];

/** An answer with groups. `total` is null for an empty one. */
type Answer<OneGroup, Figures> = {
  readonly groups: readonly OneGroup[];
  readonly groupCount: number;
  readonly total: Figures | null;
  readonly buckets: readonly Bucket[];
  readonly asOf: string;
};

type AnswerFields<OneGroup, Figures> = PothosSchemaTypes.ObjectFieldBuilder<Types, Answer<OneGroup, Figures>>;

/** The type of an answer with groups of `things`, a plural. Its field `total` has the type of the figures. */
export function groupsType<OneGroup extends object, Figures>(
  name: string,
  things: string,
  group: ObjectRef<Types, OneGroup>,
  total: (t: AnswerFields<OneGroup, Figures>) => FieldRef<Types>,
) {
  return builder.objectRef<Answer<OneGroup, Figures>>(name).implement({
    description: `Groups of ${things}.`,
    fields: (t) => ({
      groups: t.field({
        type: [group],
        complexity: { field: 1, multiplier: 1 },
        description: "The first groups of the order, at most `first`.",
        resolve: ({ groups }) => [...groups],
      }),
      groupCount: t.exposeInt("groupCount", { description: "Number of all groups, those beyond `first` included." }),
      total: total(t),
      buckets: t.field({
        type: [TimeBucket],
        complexity: 0,
        description: "Buckets of the range, one for each entry of a `series`. Empty without `bucket`.",
        resolve: ({ buckets }) => [...buckets],
      }),
      asOf: t.field({
        type: "Cursor",
        description: "Log position up to which the figures contain all changes.",
        resolve: ({ asOf }) => asOf,
      }),
    }),
  });
}

/** The arguments of the range and the size of an answer. `began` names its things with a verb, such as Calls requested. */
export function rangeArguments(arg: ArgBuilder<Types>, began: string) {
  return {
    bucket: arg({ type: BucketInput, description: "Time buckets of `series`. They need `from`." }),
    from: arg({ type: "DateTime", description: `${began} at or after this moment.` }),
    to: arg({ type: "DateTime", description: `${began} before this moment. With \`bucket\`, the present if omitted.` }),
    first: arg.int({
      defaultValue: DEFAULT_GROUPS,
      description: `Maximum number of groups, 1 to ${MOST_GROUPS}. Groups times buckets are at most ${MOST_POINTS}.`,
    }),
  };
}

const STATISTICS = 500;
/** Figures of a bucket that cost one point: they are narrow. */
const FIGURES_A_POINT = 10;

const USUAL_MS: Readonly<Record<Unit, number>> = { HOUR: HOUR_MS, DAY: DAY_MS, WEEK: 7 * DAY_MS, MONTH: 30 * DAY_MS };

/** The price of groups: that of statistics, of the figures of all buckets, and of each group. */
export function groupsPrice(args: Partial<GroupRange> & { readonly first?: number | null | undefined }): FieldComplexityValue {
  const groups = sizeOf(args, DEFAULT_GROUPS, MOST_GROUPS);
  const { from, to, bucket } = args;
  const span = from && bucket ? (to?.getTime() ?? Date.now()) - from.getTime() : 0;
  const buckets = bucket ? Math.max(0, Math.ceil(span / USUAL_MS[bucket.unit])) : 0;
  return { field: STATISTICS + Math.ceil(Math.min(groups * buckets, MOST_POINTS) / FIGURES_A_POINT), multiplier: groups };
}
