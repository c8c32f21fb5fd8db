import { GraphQLError } from "graphql";
import { isNestedDeeper, MOST_LEVELS, type Json } from "../lib/json.ts";
import { readTime } from "../lib/time.ts";
import { builder } from "./builder.ts";

builder.scalarType("Cursor", {
  description:
    'A position in the event log of a tenant: an opaque, sortable string. `"0"` is the earliest event kept. A cursor is valid for every argument of this type.',
  serialize: (cursor) => cursor,
  parseValue: (value) => {
    if (typeof value === "string") return value;
    throw new GraphQLError("a cursor must be a string returned by the server", { extensions: { code: "CURSOR_MALFORMED" } });
  },
});

builder.scalarType("DateTime", {
  description:
    "A time in ISO 8601, for example `2026-01-31T12:00:00Z`. Input needs date, time and zone, with a year from 1 to 9999. Output is in UTC with milliseconds.",
  serialize: (time) => new Date(time).toISOString(),
  parseValue: (value) => {
    const time = typeof value === "string" ? readTime(value) : null;
    if (time !== null) return time;
    throw new GraphQLError(
      "a DateTime must be an ISO 8601 string with a valid date, a time and a zone, for example 2026-01-31T12:00:00Z",
      { extensions: { code: "BAD_USER_INPUT" } },
    );
  },
});

builder.scalarType("JSON", {
  description: `Any JSON value. Input may be nested at most ${MOST_LEVELS} levels deep.`,
  serialize: (value) => value,
  parseValue: (value) => {
    const json = value as Json;
    if (!isNestedDeeper(json, MOST_LEVELS)) return json;
    throw new GraphQLError(`a JSON value may be nested at most ${MOST_LEVELS} levels deep`, {
      extensions: { code: "BAD_USER_INPUT" },
    });
  },
});
