import { GraphQLError } from "graphql";
import type { Json } from "../lib/json.ts";
import { builder } from "./builder.ts";

builder.scalarType("Cursor", {
  description:
    'A place in the event log of a tenant, opaque and sortable. `"0"` is the earliest event kept. One cursor is valid on every field that takes one.',
  serialize: (cursor) => cursor,
  parseValue: (value) => {
    if (typeof value === "string") return value;
    throw new GraphQLError("a cursor is a string that the server gave", { extensions: { code: "CURSOR_MALFORMED" } });
  },
});

/** PostgreSQL and ISO 8601 agree on the years between. */
const YEAR_1 = Date.parse("0001-01-01T00:00:00Z");
const YEAR_10000 = Date.parse("9999-12-31T23:59:59.999Z") + 1;

builder.scalarType("DateTime", {
  description: "A point in time in ISO 8601, in UTC with milliseconds.",
  serialize: (time) => new Date(time).toISOString(),
  parseValue: (value) => {
    const time = typeof value === "string" ? new Date(value) : null;
    if (time !== null && time.getTime() >= YEAR_1 && time.getTime() < YEAR_10000) return time;
    throw new GraphQLError("a DateTime is a string in ISO 8601, for example 2026-01-31T12:00:00Z", {
      extensions: { code: "BAD_USER_INPUT" },
    });
  },
});

builder.scalarType("JSON", {
  description: "Any JSON value.",
  serialize: (value) => value,
  parseValue: (value) => value as Json,
});
