import { LRUCache } from "lru-cache";
import { pino, type Level } from "pino";
import { visibleLine } from "../lib/escape-hidden.ts";
import { errorCode, messageOf } from "../lib/text.ts";

export const LOG_EVENTS = {
  start: "info",
  start_failed: "error",
  migrated: "info",
  configuration: "info",
  handover: "info",
  takeover: "warn",
  turn_failed: "warn",
  own_code_failed: "error",
  rule_stored: "info",
  rule_revoked: "info",
  rule_expired: "info",
  program_killed: "warn",
  stalled: "warn",
  agents_unknown: "warn",
  folder_hung: "warn",
  outage: "warn",
  slow_statement: "warn",
  no_room: "error",
  commits_lost: "error",
  clock: "warn",
  delivery_failed: "warn",
  delivery_given_up: "error",
  origin_refused: "warn",
  token_refused: "warn",
  signed_in: "info",
  mcp_server: "info",
  mcp_server_away: "warn",
  mcp_server_said: "debug",
  removed: "info",
  erased: "info",
  closing: "info",
} as const satisfies Readonly<Record<string, Level>>;

export type LogEvent = keyof typeof LOG_EVENTS;

/** The names and numbers of a line. Never a secret, never the content of a conversation. */
export type LogFields = {
  readonly [
    name in
      | "tenant"
      | "agent"
      | "call"
      | "tool"
      | "template"
      | "model"
      | "mcpServer"
      | "shell"
      | "consumer"
      | "rule"
      | "actor"
      | "origin"
      | "address"
      | "statement"
      | "version"
      | "digest"
      | "url"
      | "reason"
      | "durationMs"
      | "count"
  ]?: string | number;
};

/**
 * The server's messages to its operator, one line each; never a secret, never the content of a conversation. `tell`
 * logs events that an operator acts on; `warn` and `error` log unexpected ones.
 */
export type Logger = {
  tell(event: LogEvent, message: string, fields?: LogFields, cause?: unknown): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, cause?: unknown, fields?: LogFields): void;
};

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const LOG_FORMATS = ["json", "text"] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

/** `server` is the id on every line. `write` takes whole lines. */
export type LogSettings = {
  readonly level: LogLevel;
  readonly format: LogFormat;
  readonly server: string;
  readonly write: (line: string) => void;
};

/** A logger by pino. Lines of one kind are limited: dropped ones are counted, and reported with the next one. */
export function createLogger({ level, format, server, write }: LogSettings): Logger {
  const stream = { write: (line: string) => write(format === "json" ? line : textOf(line)) };
  const log = pino({ level, base: { server }, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: named } }, stream);
  const limit = new LineLimit();
  const say = (lineLevel: Level, message: string, fields: object): void => {
    const isTaken = limit.take(message, (leftOut) => log[lineLevel]({ ...fields, leftOut }, message));
    if (isTaken) log[lineLevel](fields, message);
  };
  return {
    tell: (event, message, fields = {}, cause) =>
      say(LOG_EVENTS[event], message, { event, ...fields, ...(cause === undefined ? {} : { error: shown(cause) }) }),
    warn: (message, fields = {}) => say("warn", message, fields),
    error: (message, cause, fields = {}) =>
      say("error", message, { ...fields, ...(cause === undefined ? {} : { error: shown(cause) }) }),
  };
}

function named(label: string): { readonly level: string } {
  return { level: label };
}

function shown(cause: unknown): { readonly message: string; readonly stack?: string; readonly code?: string } {
  try {
    const message = messageOf(cause);
    if (!(cause instanceof Error)) return { message };
    const { stack } = cause;
    const code = errorCode(cause);
    return { message, ...(typeof stack === "string" ? { stack } : {}), ...(code === null ? {} : { code }) };
  } catch {
    return { message: "something was thrown that cannot be read" };
  }
}

const HEAD = new Set(["level", "time", "msg", "server", "error", "event"]);

/** A line of JSON as text for a terminal: time of day, level, message, fields, and the stack below. */
function textOf(json: string): string {
  const line = JSON.parse(json) as Readonly<Record<string, unknown>>;
  const { level, time, msg, error } = line as {
    level: string;
    time: string;
    msg: string;
    error?: { message: string; stack?: string };
  };
  const fields = Object.entries(line).flatMap(([name, value]) =>
    HEAD.has(name) ? [] : [` ${name}=${visibleLine(String(value))}`],
  );
  const said = `${time.slice(11, 19)} ${level.toUpperCase().padEnd(5)} ${visibleLine(msg)}${fields.join("")}`;
  const why =
    error === undefined ? [] : (error.stack ?? error.message).split("\n").map((each) => `    ${visibleLine(each.trimStart())}`);
  return `${[said, ...why].join("\n")}\n`;
}

const A_MINUTE = 30;
const MINUTE_MS = 60_000;
const KINDS = 500;

/** The parts that differ between lines of one kind: ids, numbers, quoted names, and reasons in brackets. */
const DIFFERS = /[0-9a-f]{8}-[0-9a-f-]{27}|"[^"]*"|\([^)]*\)|\S*\d\S*/g;

type Written = { since: number; lines: number; leftOut: number };

/** Limits the rate of lines of one kind: a fault that occurs a thousand times a second hides no other, and fills no disk. */
export class LineLimit {
  readonly #kinds = new LRUCache<string, Written>({ max: KINDS });
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** True if the line may be written. `tell` is called before the first line after dropped ones, with their number. */
  take(message: string, tell: (leftOut: number) => void): boolean {
    const kind = message.replace(DIFFERS, "#").slice(0, 200);
    const now = this.#now();
    const written = this.#kinds.get(kind);
    if (written === undefined || now - written.since >= MINUTE_MS) {
      this.#kinds.set(kind, { since: now, lines: 1, leftOut: 0 });
      const leftOut = written?.leftOut ?? 0;
      if (leftOut > 0) tell(leftOut);
      return leftOut === 0;
    }
    if (written.lines >= A_MINUTE) {
      written.leftOut += 1;
      return false;
    }
    written.lines += 1;
    return true;
  }
}

/** Writes warnings and errors to stderr as text, for programs other than the server. */
export const consoleLogger: Logger = createLogger({
  level: "warn",
  format: "text",
  server: "",
  write: (line) => void process.stderr.write(line),
});
