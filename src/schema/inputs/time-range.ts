import { builder } from "../builder.ts";

export const TimeRangeInput = builder.inputType("TimeRangeInput", {
  description: "A half-open range of time: `from` is included, `to` is not. Consecutive ranges do not overlap.",
  fields: (t) => ({
    from: t.field({ type: "DateTime", description: "First moment of the range. Unbounded if omitted." }),
    to: t.field({ type: "DateTime", description: "First moment after the range. Unbounded if omitted." }),
  }),
});
