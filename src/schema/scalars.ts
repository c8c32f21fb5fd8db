import { GraphQLError } from "graphql";
import { isNestedDeeper, MOST_LEVELS, type Json } from "../lib/json.ts";
import { readTime } from "../lib/time.ts";
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

builder.scalarType("DateTime", {
  description:
    "A point in time in ISO 8601: given with its day, time and zone, in the years 1 to 9999, and answered in UTC with milliseconds.",
  serialize: (time) => new Date(time).toISOString(),
  parseValue: (value) => {
    const time = typeof value === "string" ? readTime(value) : null;
    if (time !== null) return time;
    throw new GraphQLError(
      "a DateTime is a string in ISO 8601 with a day that there is, a time and a zone, for example 2026-01-31T12:00:00Z",
      { extensions: { code: "BAD_USER_INPUT" } },
    );
  },
});

builder.scalarType("JSON", {
  description: `Any JSON value. One that is given is nested at most ${MOST_LEVELS} levels deep.`,
  serialize: (value) => value,
  parseValue: (value) => {
    const json = value as Json;
    if (!isNestedDeeper(json, MOST_LEVELS)) return json;
    throw new GraphQLError(`a JSON value is nested at most ${MOST_LEVELS} levels deep`, {
      extensions: { code: "BAD_USER_INPUT" },
    });
  },
});
