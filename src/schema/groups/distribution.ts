import type { Distribution as Times } from "../../db/groups/distribution.ts";
import { builder } from "../builder.ts";

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
    most: t.exposeFloat("most", { nullable: true, description: "Longest time." }),
  }),
});
