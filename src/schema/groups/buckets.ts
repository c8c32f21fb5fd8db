import { MOST_BUCKETS, type TimeBucket as Bucket } from "../../resolvers/groups/buckets.ts";
import type { BucketUnit as Unit } from "../../lib/time-buckets.ts";
import { builder, described } from "../builder.ts";

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
