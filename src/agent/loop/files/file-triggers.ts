import type { Statement } from "../../../db/sql.ts";
import type { AgentEventBody } from "../../../events/event.ts";
import type { ActorRef } from "../../../events/snapshots.ts";
import { newWrite } from "../../../events/write.ts";
import { withCause } from "../../../lib/text.ts";
import { reminderSent } from "../../calls/reminder.ts";
import { specOf } from "../../calls/schedules/trigger.ts";
import { globMatcher } from "../../workspace/glob.ts";
import { GlobWatch, type WatchedPlaces } from "../../workspace/changes/glob-watch.ts";
import { firstByPath } from "../commits/files-changed.ts";
import type { AgentOfTenant } from "../lease.ts";
import type { ServerServices } from "../scope.ts";

/** The delay after a change, in ms: a program that writes files is usually done by then. And that of another try. */
const SETTLED_MS = 200;
const AGAIN_MS = 500;
/** The least time between two reminders of a schedule, in ms. */
const PAUSE_MS = 60_000;
/** The most paths that a reminder names, and the most that one schedule remembers. */
const NAMED = { files: 20, bytes: 2 * 1024 };
const MOST_PATHS = 1_000;

export type FileSchedule = { readonly id: string; readonly files: string };

/** The schedules of an agent `a` that changed files trigger, as FileSchedules. */
export const FILE_SCHEDULES = `(SELECT coalesce(json_agg(json_build_object('id', h.id, 'files', h.trigger ->> 'files') ORDER BY h.id), '[]')
    FROM schedule h WHERE h.agent_id = a.id AND h.trigger ->> 'kind' = 'FILES' AND h.paused_at IS NULL)`;

type Found = {
  readonly text: string;
  readonly moves: number;
  readonly triggered: number;
  readonly createdBy: string;
  readonly createdByKind: ActorRef["kind"];
  /** The ms since its last reminder; null before the first. */
  readonly sinceMs: number | null;
  /** True if its agent is idle, and still watched by this server. */
  readonly isWatched: boolean;
  readonly now: Date;
};

const FIND: Statement<Found, [id: string, due: string]> = {
  name: "find_file_schedule",
  text: `SELECT s.text, s.moves, s.triggered, s.created_by AS "createdBy", s.created_by_kind AS "createdByKind",
      extract(epoch FROM policy_time() - s.last_triggered_at)::float8 * 1000 AS "sinceMs", policy_time() AS now,
      a.state = 'READY' AND a.lease_owner IS NULL AND a.archived_at IS NULL AND w.due = $2::timestamptz AS "isWatched"
    FROM schedule s JOIN agent a ON a.id = s.agent_id JOIN wait w ON w.id = 'watch:' || a.id WHERE s.id = $1 AND s.paused_at IS NULL`,
};

export type TriggeredAgent = {
  readonly id: string;
  readonly tenant: string;
  readonly createdBy: string;
  readonly workspace: string;
  /** The time of the wait by which this server watches. */
  readonly due: () => string;
};

type TriggerServices = Pick<ServerServices, "sql" | "log" | "clock" | "logger"> & {
  readonly wake: (agent: AgentOfTenant) => Promise<void>;
  readonly watchedPlaces: WatchedPlaces;
};

type Pending = FileSchedule & {
  readonly isMatch: (path: string) => boolean;
  readonly paths: Set<string>;
  timer: NodeJS.Timeout | null;
};

/** The schedules of one idle agent that changed files trigger, while this server watches its folder. */
export class FileTriggers {
  readonly #services: TriggerServices;
  readonly #agent: TriggeredAgent;
  readonly #schedules: readonly Pending[];
  readonly #watch: GlobWatch;
  #turn: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(services: TriggerServices, agent: TriggeredAgent, schedules: readonly FileSchedule[]) {
    this.#services = services;
    this.#agent = agent;
    this.#schedules = schedules.map(({ id, files }) => {
      return { id, files, isMatch: globMatcher(files, false), paths: new Set<string>(), timer: null };
    });
    const patterns = schedules.map(({ files }) => files);
    this.#watch = new GlobWatch(agent.workspace, patterns, services.watchedPlaces, {
      changed: (path) => this.#changed(path),
      limited: (problem) => services.logger.warn(`files of agent ${agent.id} are watched in part only: ${problem}`),
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { timer } of this.#schedules) if (timer !== null) clearTimeout(timer);
    await this.#watch.close();
    await this.#turn;
  }

  #changed(path: string): void {
    for (const schedule of this.#schedules) {
      if (!schedule.isMatch(path) || schedule.paths.size >= MOST_PATHS) continue;
      schedule.paths.add(path);
      this.#arm(schedule, SETTLED_MS);
    }
  }

  #arm(schedule: Pending, afterMs: number): void {
    if (this.#isClosed) return;
    schedule.timer ??= setTimeout(() => {
      schedule.timer = null;
      this.#turn = this.#turn.then(() => this.#trigger(schedule));
    }, afterMs).unref();
  }

  async #trigger(schedule: Pending): Promise<void> {
    if (this.#isClosed) return;
    const { sql, logger } = this.#services;
    try {
      const [found] = await sql.query(FIND, [schedule.id, this.#agent.due()]);
      if (found === undefined) return;
      const pauseMs = PAUSE_MS - (found.sinceMs ?? PAUSE_MS);
      if (!found.isWatched) this.#arm(schedule, AGAIN_MS);
      else if (pauseMs > 0) this.#arm(schedule, Math.min(pauseMs, PAUSE_MS));
      else if (await this.#send(schedule, found)) schedule.paths.clear();
      else this.#arm(schedule, AGAIN_MS);
    } catch (error) {
      logger.warn(`a schedule of files of agent ${this.#agent.id} could not trigger (${withCause(error)}); trying again`);
      this.#arm(schedule, PAUSE_MS);
    }
  }

  async #send(
    { id: taskId, files, paths }: Pending,
    { text, moves, triggered, createdBy, createdByKind, now }: Found,
  ): Promise<boolean> {
    const { log, clock } = this.#services;
    const { id, tenant, createdBy: owner } = this.#agent;
    const at = clock.now();
    const sent = reminderSent(
      { id, tenant },
      {
        text: `${text}\n\n${namedPaths([...paths])}`,
        category: "FILE",
        priority: "MEDIUM",
        startsTurn: true,
        scheduleId: taskId,
      },
      { id: createdBy, kind: createdByKind },
      at,
    );
    const body: AgentEventBody = {
      kind: "SCHEDULER_TRIGGERED",
      taskId,
      spec: specOf({ kind: "FILES", files }),
      trigger: "FILES",
      triggeredAt: now.toISOString(),
      dueAt: null,
      missed: 0,
      messageId: sent.id,
    };
    const set = { triggered: triggered + 1, lastTriggeredAt: now };
    const outcome = await log.commit(
      tenant,
      { agentId: id, createdBy: owner, events: [body, sent.event].map((each) => ({ at, body: each })) },
      { ...sent.change, schedulesMoved: [{ id: taskId, moves, due: null, set }] },
      newWrite(sent.id),
    );
    if (outcome.outcome !== "COMMITTED") return false;
    await this.#services.wake({ agentId: id, tenant });
    return true;
  }
}

function namedPaths(paths: readonly string[]): string {
  const named = firstByPath(paths, (path) => path, NAMED);
  const more = paths.length - named.length;
  const names = named.map((path) => (/\p{Cc}/u.test(path) ? JSON.stringify(path) : path));
  return `[Changed files: ${[...names, ...(more > 0 ? [`and ${more} more`] : [])].join(", ")}]`;
}
