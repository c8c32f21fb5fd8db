import { visibleLine } from "../lib/escape-hidden.ts";

const HEAD = new Set(["level", "time", "msg", "server", "error", "event"]);

/** A line of JSON as text for a terminal: time of day, level, message, fields, and the stack below. */
export function textOf(json: string): string {
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
