import fc from "fast-check";
import { expect, it } from "vitest";
import { encodeEvent } from "../../src/events/codec.ts";
import type { EventDraft } from "../../src/events/event.ts";
import { columns } from "../../src/events/write.ts";
import { testDatabase } from "../support/database.ts";
import { emptyEmbedded } from "../support/embedded.ts";

const COLUMNS = "SELECT $1::text[] AS channels, $2::text[] AS kinds, $3::text[] AS payloads, $4::timestamptz[] AS times";
/** Whatever an array's text, JSON or a driver might take for more than a character. */
const SPECIAL = ["{", "}", ",", '"', "\\", " ", "\n", "\t", "\0", "\x7f", "\u2028", "\ud800", "NULL"];
const DELTAS = fc.string({ unit: fc.oneof(fc.constantFrom(...SPECIAL), fc.string({ unit: "binary" })) });
const EVENTS = fc.array(
  fc.record({ delta: DELTAS, at: fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }) }),
  { maxLength: 6 },
);

it("events are read by both databases as they were encoded, whatever characters their texts have", async () => {
  const { sql } = await testDatabase();
  const embedded = await emptyEmbedded();
  await fc.assert(
    fc.asyncProperty(EVENTS, async (said) => {
      const encoded = said.map(({ delta, at }) => {
        const draft: EventDraft = { at, body: { kind: "TEXT_CHUNK", step: 1, block: 0, delta } };
        return encodeEvent(draft);
      });
      const expected = {
        channels: encoded.map(({ channel }) => channel),
        kinds: encoded.map(({ kind }) => kind),
        payloads: encoded.map(({ payload }) => payload),
        times: encoded.map(({ at }) => at),
      };
      const values = columns(encoded);
      expect(await sql.query({ name: "columns", text: COLUMNS }, values)).toEqual([expected]);
      expect((await embedded.query(COLUMNS, values)).rows).toEqual([expected]);
    }),
  );
});
