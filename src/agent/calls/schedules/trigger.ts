import { Cron } from "croner";
import { isJsonObject, type JsonObject } from "../../../lib/json.ts";
import { accepted, refused, type Result } from "../../../lib/result.ts";
import { headBytes, messageOf } from "../../../lib/text.ts";
import { isTimeZone, readTime } from "../../../lib/time.ts";
import { alternativesOf, bracketProblem } from "../../workspace/glob.ts";

/** The condition under which a schedule sends its reminder. `at` is in ISO 8601; `timeZone` is the name of an IANA zone; `files` is a glob pattern. */
export type Trigger =
  | { readonly kind: "STEPS"; readonly everySteps: number }
  | { readonly kind: "TIME"; readonly at: string }
  | { readonly kind: "INTERVAL"; readonly everyMs: number }
  | { readonly kind: "CRON"; readonly cron: string; readonly timeZone: string }
  | { readonly kind: "FILES"; readonly files: string };

export type TimeTrigger = Exclude<Trigger, { readonly kind: "STEPS" | "FILES" }>;

/** A trigger as it is given: one of its ways, and a zone for `cron`. */
export type GivenTrigger = {
  readonly everySteps?: number | null | undefined;
  readonly at?: Date | null | undefined;
  readonly everyMs?: number | null | undefined;
  readonly cron?: string | null | undefined;
  readonly timeZone?: string | null | undefined;
  readonly files?: string | null | undefined;
};

/** The least and the longest interval, in ms; the most steps; the latest time; the longest expression. */
export const INTERVAL_MS = { least: 60_000, most: 366 * 24 * 60 * 60 * 1_000 };
const MOST_STEPS = 1_000_000;
const LATEST = Date.parse("2200-01-01T00:00:00.000Z");
const CRON_CHARACTERS = 100;
const PATTERN_CHARACTERS = 200;
/** The most of a wrong value that a refusal repeats, in bytes. */
const SHOWN_BYTES = 100;

/** The field of a given trigger that is wrong; null for the whole. */
export type TriggerProblem = { readonly field: keyof GivenTrigger | null; readonly message: string };

const WAYS = ["everySteps", "at", "everyMs", "cron", "files"] as const;

/** Names for five fields (crontab(5)). `@reboot` is none: servers come and go. */
const NICKNAMES = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

/** The trigger, if it is a possible one whose first time is later than `now`. */
export function readTrigger(given: GivenTrigger, now: Date): Result<Trigger, TriggerProblem> {
  const ways = WAYS.filter((way) => isGiven(given[way]));
  const [way] = ways;
  if (way === undefined || ways.length > 1)
    return problem(null, `give exactly one of ${WAYS.join(", ")}${ways.length > 1 ? `, not ${ways.join(" and ")}` : ""}`);
  if (way !== "cron" && isGiven(given.timeZone)) return problem("timeZone", "only `cron` has a time zone: leave it out");
  switch (way) {
    case "everySteps":
      return readSteps(given.everySteps ?? 0);
    case "at":
      return readAt(given.at ?? now, now);
    case "everyMs":
      return readInterval(given.everyMs ?? 0);
    case "cron":
      return readCron(given.cron ?? "", given.timeZone ?? null, now);
    case "files":
      return readFiles(given.files ?? "");
  }
}

function readFiles(files: string): Result<Trigger, TriggerProblem> {
  const isRelative = files !== "" && !files.startsWith("/") && !files.split("/").includes("..");
  if (!isRelative || files.length > PATTERN_CHARACTERS || /[\0\p{Surrogate}]/u.test(files))
    return problem("files", `${shown(files)} must be a glob pattern of paths in the workspace, such as \`src/*.ts\``);
  const bracket = bracketProblem(files);
  if (bracket !== null) return problem("files", `${shown(files)} cannot be read: ${bracket}`);
  try {
    alternativesOf(files);
  } catch (error) {
    return problem("files", `${shown(files)} cannot be read: ${messageOf(error)}`);
  }
  return accepted({ kind: "FILES", files });
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function readSteps(everySteps: number): Result<Trigger, TriggerProblem> {
  if (Number.isInteger(everySteps) && everySteps >= 1 && everySteps <= MOST_STEPS) return accepted({ kind: "STEPS", everySteps });
  return problem("everySteps", `must be a whole number from 1 to ${MOST_STEPS}`);
}

function readAt(at: Date, now: Date): Result<Trigger, TriggerProblem> {
  const time = at.getTime();
  if (Number.isNaN(time)) return problem("at", "is no time: write it like 2030-01-31T09:00:00Z");
  if (time <= now.getTime())
    return problem("at", `${at.toISOString()} has passed: it is ${now.toISOString()}. Give a later time, or send a reminder now`);
  if (time >= LATEST) return problem("at", `must be before ${new Date(LATEST).toISOString()}`);
  return accepted({ kind: "TIME", at: at.toISOString() });
}

function readInterval(everyMs: number): Result<Trigger, TriggerProblem> {
  if (Number.isInteger(everyMs) && everyMs >= INTERVAL_MS.least && everyMs <= INTERVAL_MS.most)
    return accepted({ kind: "INTERVAL", everyMs });
  return problem("everyMs", `must be a whole number from ${INTERVAL_MS.least} (a minute) to ${INTERVAL_MS.most} (366 days)`);
}

function readCron(cron: string, timeZone: string | null, now: Date): Result<Trigger, TriggerProblem> {
  const expression = cron.trim().replaceAll(/\s+/g, " ");
  const parts = expression.split(" ");
  const isNickname = NICKNAMES.some((nickname) => nickname === expression.toLowerCase());
  if (cron.length > CRON_CHARACTERS || (parts.length !== 5 && !isNickname))
    return problem(
      "cron",
      `${shown(cron)} must have five fields: minute, hour, day, month and weekday, as in \`0 9 * * 1-5\`; or be one of ${NICKNAMES.join(", ")}`,
    );
  if (timeZone === null) return problem("timeZone", "a wall clock needs the name of its IANA zone, such as `Europe/Berlin`");
  if (!isTimeZone(timeZone))
    return problem("timeZone", `there is no time zone ${shown(timeZone)}: use a name such as \`Europe/Berlin\` or \`UTC\``);
  try {
    if (cronOf({ cron: expression, timeZone }).nextRun(now) === null)
      return problem("cron", `${shown(cron)} has no time: no date fits its day and month`);
  } catch (error) {
    return problem("cron", `${shown(cron)} cannot be read: ${error instanceof Error ? error.message : "it is no expression"}`);
  }
  return accepted({ kind: "CRON", cron: expression, timeZone });
}

function problem(field: TriggerProblem["field"], message: string): Result<never, TriggerProblem> {
  return refused({ field, message });
}

function shown(value: string): string {
  return JSON.stringify(headBytes(value, SHOWN_BYTES));
}

export function cronOf({ cron, timeZone }: { readonly cron: string; readonly timeZone: string }): Cron {
  return new Cron(cron, { timezone: timeZone, mode: "5-part", paused: true });
}

/** The trigger in words, as events and clients see it. */
export function specOf(trigger: Trigger): string {
  switch (trigger.kind) {
    case "STEPS":
      return trigger.everySteps === 1 ? "every step" : `every ${trigger.everySteps} steps`;
    case "TIME":
      return `at ${trigger.at}`;
    case "INTERVAL":
      return `every ${trigger.everyMs} ms`;
    case "CRON":
      return `${trigger.cron} (${trigger.timeZone})`;
    case "FILES":
      return `files ${trigger.files}`;
  }
}

/** A trigger as its row has it; null for one that only a newer server knows. */
export function storedTrigger(stored: unknown): Trigger | null {
  if (!isJsonObject(stored)) return null;
  const { kind } = stored;
  const steps = numberIn(stored, "everySteps");
  const ms = numberIn(stored, "everyMs");
  const at = textIn(stored, "at");
  const cron = textIn(stored, "cron");
  const timeZone = textIn(stored, "timeZone");
  const files = textIn(stored, "files");
  if (kind === "FILES" && files !== null) return { kind, files };
  if (kind === "STEPS" && steps !== null) return { kind, everySteps: steps };
  if (kind === "TIME" && at !== null && readTime(at) !== null) return { kind, at };
  if (kind === "INTERVAL" && ms !== null) return { kind, everyMs: ms };
  return kind === "CRON" && cron !== null && timeZone !== null ? { kind, cron, timeZone } : null;
}

function numberIn(row: JsonObject, name: string): number | null {
  const value = row[name];
  return typeof value === "number" && value >= 1 ? value : null;
}

function textIn(row: JsonObject, name: string): string | null {
  const value = row[name];
  return typeof value === "string" ? value : null;
}
