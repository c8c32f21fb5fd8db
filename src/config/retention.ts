import { Type } from "typebox";
import type { RetentionPolicy } from "../events/retention.ts";
import { withDefault, type Complete } from "../lib/setting.ts";
import { DAY_MS } from "../lib/time.ts";

/** At least an hour: recent writes are never removed. At most a hundred years: earlier times do not exist in a database. */
const DAYS = Type.Number({
  minimum: 1 / 24,
  maximum: 36_500,
  problem: "must be a number of days, at least an hour (1 / 24) and at most 36,500",
});

export const RETENTION_SETTINGS = {
  /** Days after which events are removed, and their cursors expire. At least an hour, up to 36,500. Kept for ever if omitted. */
  eventsDays: withDefault(DAYS, null),
  /**
   * Days after which the deltas of complete texts are removed; their TEXT_CHUNK_END has the text. At least an hour, up
   * to 36,500. Kept for ever if omitted.
   */
  deltasDays: withDefault(DAYS, null),
  /**
   * Days after which complete outputs that models read in part are removed. At least an hour, up to 36,500. Kept for
   * ever if omitted.
   */
  outputsDays: withDefault(DAYS, null),
  /**
   * Days after which inputs, results and kept outputs of ended tool calls are erased; the calls stay. At least an hour,
   * up to 36,500. Kept for ever if omitted.
   */
  toolCallsDays: withDefault(DAYS, null),
  /**
   * Days after which texts, images and values of messages are erased; the messages stay. At least an hour, up to
   * 36,500. Kept for ever if omitted.
   */
  messagesDays: withDefault(DAYS, null),
  /**
   * Days after which inputs, reasons, previews and notes of closed approvals are erased; the approvals stay. At least an
   * hour, up to 36,500. Kept for ever if omitted.
   */
  approvalsDays: withDefault(DAYS, null),
  /**
   * Days after which idempotency keys are removed: a request that is repeated later counts as a new one. At least an
   * hour, up to 36,500. 30 if omitted.
   */
  idempotencyKeysDays: withDefault(DAYS, 30),
};

/** In ms. */
export function retentionOf(settings: Complete<typeof RETENTION_SETTINGS>): RetentionPolicy {
  const ms = (days: number | null): number | null => (days === null ? null : days * DAY_MS);
  return {
    eventsMs: ms(settings.eventsDays),
    deltasMs: ms(settings.deltasDays),
    outputsMs: ms(settings.outputsDays),
    toolCallsMs: ms(settings.toolCallsDays),
    messagesMs: ms(settings.messagesDays),
    approvalsMs: ms(settings.approvalsDays),
  };
}
