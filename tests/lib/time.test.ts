import { describe, expect, it } from "vitest";
import { startTestApp } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { exactTime, readTime } from "../../src/lib/time.ts";

const NO_TIMES = [
  "1",
  "foo 1",
  "Jan 5 2026",
  "2026-01-31",
  "2026-01-31T12:00:00",
  "2026-01-31 12:00:00Z",
  "2026-02-31T00:00:00Z",
  "2026-13-01T00:00:00Z",
  "2026-01-31T24:00:00Z",
  "2026-01-31T12:00:00+25:00",
  "0000-12-31T23:59:59Z",
  "9999-12-31T23:59:59-01:00",
  "0001-01-01T00:00:00+01:00",
  "+275760-09-13T00:00:00.000Z",
];

describe("a time", () => {
  it.each([
    ["2026-01-31T12:00:00Z", "2026-01-31T12:00:00.000Z"],
    ["2026-01-31t12:00:00.5z", "2026-01-31T12:00:00.500Z"],
    ["2026-01-31T12:00Z", "2026-01-31T12:00:00.000Z"],
    ["2024-02-29T23:30:00.123456+05:30", "2024-02-29T18:00:00.123Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"],
    ["9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"],
  ])("of %s is %s", (text, time) => {
    expect(readTime(text)?.toISOString()).toBe(time);
    expect(exactTime(time)?.toISOString()).toBe(time);
  });

  it.each(NO_TIMES)("is none in %s", (text) => expect(readTime(text)).toBeNull());

  it("of a client has a day that there is, a time and a zone", async () => {
    const client = connect((await startTestApp()).url);
    const query = "query($time: DateTime!) { cursorAt(time: $time) }";
    for (const time of NO_TIMES)
      expect((await client.post({ query, variables: { time } })).errors, time).toMatchObject([
        { message: expect.stringContaining("a zone"), extensions: { code: "BAD_USER_INPUT" } },
      ]);
    expect((await client.post({ query, variables: { time: "2026-01-31T12:00:00+01:00" } })).errors).toEqual([]);
  });
});
