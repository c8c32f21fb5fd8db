import { appendFileSync, existsSync, readFileSync, truncateSync } from "node:fs";
import { PostgresBell } from "../../src/events/bell/postgres-bell.ts";
import { openPools } from "../../src/db/connections/pool.ts";
import { CHANNELS } from "../../src/events/event.ts";
import type { Encoder } from "../../src/events/reading/answers.ts";
import { Feeds } from "../../src/events/reading/feed.ts";
import { type Line, Reader } from "../../src/events/reading/reader.ts";
import { EventLog } from "../../src/events/log.ts";
import { Tails } from "../../src/events/reading/tails.ts";
import { ADMITTED } from "../../tests/support/followed.ts";
import { TRIAL_VERSION } from "../postgres.ts";

/**
 * The reader of trial:log: follows the whole log from where its file ends, and appends `POSITION MARK` for each event.
 * The file is its cursor: what was written of a line when it was killed is taken back. TRIAL_BELL listens to rings.
 */
const { DATABASE_URL: url = "", TRIAL_FILE: file = "" } = process.env;
const kept = existsSync(file) ? readFileSync(file, "utf8") : "";
const whole = kept.slice(0, kept.lastIndexOf("\n") + 1);
if (whole.length < kept.length) truncateSync(file, whole.length);
const after = Number(whole.trimEnd().split("\n").at(-1)?.split(" ")[0] ?? 0);
const silent = { tell: () => {}, warn: () => {}, error: () => {} };
const log = new EventLog(openPools({ url, connections: 2, version: TRIAL_VERSION }).reads);
const tails = new Tails(log, new PostgresBell(url, TRIAL_VERSION, `reader ${process.pid}`, silent), silent);
console.log("ready");
const scope = { tenant: "trial", agentIds: null, withDescendants: false, createdBy: null, channels: CHANNELS, kinds: null };
const feeds = new Feeds(tails);
const encoder: Encoder = {
  asks: null,
  answer: ({ events }) => {
    const lines = events.map(({ position, body }) => `${position} ${body.kind === "TEXT_CHUNK" ? body.delta : body.kind}\n`);
    return Promise.resolve({ kind: "bytes", bytes: Buffer.from(lines.join("")), isLasting: true });
  },
};
const line: Line = {
  waitingBytes: 0,
  send: (lines) => {
    if (lines.length > 0) appendFileSync(file, lines);
    return true;
  },
  drained: () => Promise.resolve(),
  end: (ending) => {
    throw new Error("the log has no end", { cause: ending });
  },
};
const reader = new Reader(line, ADMITTED, () => {});
feeds.open({ scope, until: null, encoder }, { kind: "after", position: after, head: after }, reader);
