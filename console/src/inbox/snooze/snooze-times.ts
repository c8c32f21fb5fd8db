/** The viewer's own snooze of an approval. `until` is null for one that ends only when the approval changes. */
export type Snooze = { readonly until: string | null };

/** The hour at which a working day begins, in the person's zone. */
const MORNING_HOUR = 8;
/** The next morning is at least so far away. Before it, the present day still counts as tomorrow's night. */
const NIGHT_MS = 4 * 60 * 60_000;
const MONDAY = 1;

/** The times to which a question can be put off, in the zone of the page. */
export const SNOOZE_CHOICES = ["hour", "morning", "week"] as const;
export type SnoozeChoice = (typeof SNOOZE_CHOICES)[number];

export function snoozeEnd(choice: SnoozeChoice, now: Date): Date {
  switch (choice) {
    case "hour":
      return new Date(now.getTime() + 60 * 60_000);
    case "morning": {
      const today = morningAfter(now, 0);
      return today.getTime() - now.getTime() >= NIGHT_MS ? today : morningAfter(now, 1);
    }
    case "week":
      return morningAfter(now, (MONDAY - now.getDay() + 7) % 7 || 7);
  }
}

/** The calendar knows the days on which clocks are changed. */
function morningAfter(now: Date, days: number): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, MORNING_HOUR);
}

/** True for a snooze whose time has not come. */
export function isPresent(snooze: Snooze | undefined, nowMs: number): boolean {
  return snooze !== undefined && (snooze.until === null || Date.parse(snooze.until) > nowMs);
}
