import { builder } from "../builder.ts";

export const TimeRangeInput = builder.inputType("TimeRangeInput", {
  description: "A span of time. Day after day, each moment is in one span.",
  fields: (t) => ({
    from: t.field({ type: "DateTime", description: "The first moment of it; from the beginning if omitted." }),
    to: t.field({ type: "DateTime", description: "The first moment after it; without an end if omitted." }),
  }),
});
