import { Type } from "typebox";
import type { RetentionPolicy } from "../events/retention.ts";
import { withDefault, type Complete } from "../lib/setting.ts";
import { DAY_MS } from "../lib/clock.ts";

/** At least an hour: what is still being written is never removed. At most a hundred years: times of before are none of a database's. */
const DAYS = Type.Number({
  minimum: 1 / 24,
  maximum: 36_500,
  problem: "must be a number of days, at least an hour (1 / 24) and at most 36,500",
});

/** The times for which things are kept. */
export const RETENTION_SETTINGS = {
  /** Days after which events are removed; cursors of before expire. At least an hour, up to 36,500. Kept for ever if omitted. */
  eventsDays: withDefault(DAYS, null),
  /** Days after which the deltas of complete texts are left to the text of their TEXT_CHUNK_END. At least an hour, up to 36,500. Kept for ever if omitted. */
  deltasDays: withDefault(DAYS, null),
  /** Days after which whole outputs of which models read a part are removed. At least an hour, up to 36,500. Kept for ever if omitted. */
  outputsDays: withDefault(DAYS, null),
};

/** The same times in ms. */
export function retentionOf({ eventsDays, deltasDays, outputsDays }: Complete<typeof RETENTION_SETTINGS>): RetentionPolicy {
  const ms = (days: number | null): number | null => (days === null ? null : days * DAY_MS);
  return { eventsMs: ms(eventsDays), deltasMs: ms(deltasDays), outputsMs: ms(outputsDays) };
}
