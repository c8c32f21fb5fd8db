import { statSync } from "node:fs";
import type { Statement } from "../../../db/sql.ts";
import { withCause } from "../../../lib/text.ts";
import { growingWait } from "../../../lib/time.ts";
import type { DueWait } from "../../waits/due.ts";
import { checkFiles } from "../../workspace/changes/file-check.ts";
import type { WatchedPlaces } from "../../workspace/changes/glob-watch.ts";
import type { FileWatch } from "../../workspace/changes/file-watches.ts";
import { readNewestFiles } from "../../workspace/known-files.ts";
import { changedEvents, changeRows, fileNotices } from "../commits/files-changed.ts";
import type { AgentOfTenant } from "../lease.ts";
import { FILE_SCHEDULES, FileTriggers, type FileSchedule } from "./file-triggers.ts";
import type { ServerServices, TenantServices } from "../scope.ts";

/** The time for which a server keeps a watch, and the pause between two renewals, in ms. */
const LEASE_MS = 20_000;
const RENEW_MS = 4_000;
/** The pause after which servers look again at a watch that this one cannot keep, in ms. */
const ELSEWHERE_MS = 10_000;
/** The longest such pause where the template is not configured here, in ms: each look doubles it. */
const UNKNOWN_MS = 10 * 60_000;
/** The most watches whose looks in vain are counted. */
const MOST_COUNTED = 10_000;
/** The delay between a hint and its check, and that after a check which met another's commit, in ms. */
const SETTLED_MS = 100;
const AGAIN_MS = 500;
/** The most idle agents whose files one server watches. */
const MOST_AGENTS = 200;

type Idle = {
  readonly createdBy: string;
  readonly templateId: string;
  readonly workspace: string;
  readonly isIdle: boolean;
  readonly schedules: readonly FileSchedule[];
};

const READ: Statement<Idle, [agentId: string]> = {
  name: "read_idle_agent",
  text: `SELECT created_by AS "createdBy", template_id AS "templateId", workspace, state = 'READY' AND archived_at IS NULL AS "isIdle", ${FILE_SCHEDULES} AS schedules FROM agent a WHERE id = $1`,
};
/** Keeps watches whose `due` is still this server's. */
const KEEP: Statement<{ id: string; due: string }, [ids: readonly string[], dues: readonly string[], ms: number]> = {
  name: "keep_watches",
  text: `UPDATE wait w SET due = policy_time() + make_interval(secs => $3::float8 / 1000)
    FROM unnest($1::text[], $2::timestamptz[]) AS g(id, due) WHERE w.id = g.id AND w.due = g.due RETURNING w.id, w.due::text`,
};
const REST: Statement<object, [id: string, due: string]> = {
  name: "rest_watch",
  text: "UPDATE wait SET due = NULL WHERE id = $1 AND due = $2::timestamptz",
};
const END: Statement<object, [id: string, due: string]> = {
  name: "end_watch",
  text: "DELETE FROM wait WHERE id = $1 AND due = $2::timestamptz",
};

type WatchServices = Pick<ServerServices, "sql" | "log" | "clock" | "logger" | "fileWatches" | "folders"> & {
  readonly of: (tenant: string) => Pick<TenantServices, "templates">;
  readonly wake: (agent: AgentOfTenant) => Promise<void>;
};

type OwnServices = WatchServices & { readonly watchedPlaces: WatchedPlaces };

/**
 * The idle agents whose files this server watches: for `watchFiles: "always"`, and for schedules of files. The wait of the kind WATCH is the lease. It is
 * due when an agent's turn ends; one server claims it, and moves its `due` on as long as it watches. The beginning of a
 * turn, or another server's claim, changes `due`: then the watch ends with its next renewal. Until then a change that it
 * finds is refused, since the agent is held, or known already.
 */
export class IdleWatches {
  readonly #services: OwnServices;
  readonly #watches = new Map<string, IdleWatch>();
  /** The looks in vain, by the watches whose template is not configured here. */
  readonly #unknown = new Map<string, number>();
  readonly #renewing: NodeJS.Timeout;
  #turn: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(services: WatchServices) {
    this.#services = { ...services, watchedPlaces: { taken: 0 } };
    this.#renewing = setInterval(() => (this.#turn = this.#turn.then(() => this.#renew())), RENEW_MS).unref();
  }

  /** Looks at a claimed watch: keeps it if the agent is idle, its template wants it, and its folder is here. */
  async look({ id, tenant, agentId, due }: DueWait): Promise<void> {
    const { sql, folders } = this.#services;
    await this.#drop(id);
    const [agent] = agentId === null ? [] : await sql.query(READ, [agentId]);
    if (agent === undefined || agentId === null) return;
    const template = this.#services.of(tenant).templates.get(agent.templateId);
    const isWanted = template?.watchFiles === "always";
    // A server that does not have the template leaves the watch to the others.
    if (template !== undefined && !isWanted && agent.schedules.length === 0) return void (await sql.query(END, [id, due]));
    if (!agent.isIdle) return void (await sql.query(REST, [id, due]));
    const files = isWanted && (await folders.answers(agent.workspace)) ? await readNewestFiles(sql, agentId) : [];
    const hasPlace = template !== undefined && this.#watches.size < MOST_AGENTS && !this.#isClosed;
    const isHere = hasPlace && (await isFolder(this.#services, agent.workspace));
    const [kept] = await sql.query(KEEP, [[id], [due], isHere ? LEASE_MS : this.#pauseMs(id, template !== undefined)]);
    if (!isHere || kept === undefined) return;
    const { createdBy, workspace } = agent;
    const watch = new IdleWatch(this.#services, { id: agentId, tenant, createdBy, workspace }, kept.due);
    this.#watches.set(id, watch);
    watch.begin(
      files.map(({ path }) => path),
      agent.schedules,
    );
  }

  #pauseMs(id: string, isKnown: boolean): number {
    const tries = isKnown ? 0 : (this.#unknown.get(id) ?? 0) + 1;
    this.#unknown.delete(id);
    if (isKnown) return ELSEWHERE_MS;
    if (this.#unknown.size >= MOST_COUNTED) this.#unknown.clear();
    this.#unknown.set(id, tries);
    return growingWait(tries, ELSEWHERE_MS, UNKNOWN_MS);
  }

  /** Ends all watches. Other servers take them over. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#renewing);
    await this.#turn;
    const { sql, logger } = this.#services;
    const mine = [...this.#watches].map(([id, { due }]) => ({ id, due }));
    await Promise.all(mine.map(({ id }) => this.#drop(id)));
    const dues = mine.map(({ due }) => due);
    await sql
      .query(KEEP, [mine.map(({ id }) => id), dues, 0])
      .catch((error: unknown) => logger.warn(`watches of idle agents end by their time only (${withCause(error)})`));
  }

  async #renew(): Promise<void> {
    const { sql, logger } = this.#services;
    const ids = [...this.#watches.keys()];
    if (ids.length === 0 || this.#isClosed) return;
    try {
      const kept = await sql.query(KEEP, [ids, [...this.#watches.values()].map(({ due }) => due), LEASE_MS]);
      const dues = new Map(kept.map((each) => [each.id, each.due]));
      for (const id of ids) {
        const due = dues.get(id);
        const watch = this.#watches.get(id);
        if (due === undefined) await this.#drop(id);
        else if (watch !== undefined) watch.due = due;
      }
    } catch (error) {
      logger.warn(`watches of idle agents could not be renewed (${withCause(error)}); trying again`);
    }
  }

  async #drop(id: string): Promise<void> {
    const watch = this.#watches.get(id);
    this.#watches.delete(id);
    await watch?.close();
  }
}

async function isFolder({ folders }: Pick<WatchServices, "folders">, workspace: string): Promise<boolean> {
  return (await folders.answers(workspace)) && statSync(workspace, { throwIfNoEntry: false })?.isDirectory() === true;
}

type WatchedAgent = { readonly id: string; readonly tenant: string; readonly createdBy: string; readonly workspace: string };

/** The watch of one idle agent's files: hints of the file system, and a check of the hinted files. */
class IdleWatch {
  /** The time of its wait, which this server has set. */
  due: string;
  readonly #services: OwnServices;
  readonly #agent: WatchedAgent;
  readonly #hinted = new Set<string>();
  #watch: FileWatch | null = null;
  #triggers: FileTriggers | null = null;
  #settling: NodeJS.Timeout | null = null;
  #turn: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(services: OwnServices, agent: WatchedAgent, due: string) {
    this.#services = services;
    this.#agent = agent;
    this.due = due;
  }

  begin(names: readonly string[], schedules: readonly FileSchedule[]): void {
    if (schedules.length > 0)
      this.#triggers = new FileTriggers(this.#services, { ...this.#agent, due: () => this.due }, schedules);
    this.#watch = this.#services.fileWatches.open(this.#agent.workspace, (name) => this.#hint(name, SETTLED_MS));
    for (const name of this.#watch.add(names)) this.#hint(name, SETTLED_MS);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#settling !== null) clearTimeout(this.#settling);
    this.#watch?.close();
    await this.#triggers?.close();
    await this.#turn;
  }

  #hint(name: string, afterMs: number): void {
    if (this.#isClosed) return;
    this.#hinted.add(name);
    this.#settling ??= setTimeout(() => {
      this.#settling = null;
      this.#turn = this.#turn.then(() => this.#check());
    }, afterMs).unref();
  }

  async #check(): Promise<void> {
    const names = [...this.#hinted];
    this.#hinted.clear();
    const { logger } = this.#services;
    try {
      if (!this.#isClosed && !(await this.#report(names))) names.forEach((name) => this.#hint(name, AGAIN_MS));
    } catch (error) {
      logger.warn(`changes in files of agent ${this.#agent.id} could not be looked for (${withCause(error)})`);
    }
  }

  /** Reports the changes of these files. False if another holds the agent, or has reported one of them. */
  async #report(names: readonly string[]): Promise<boolean> {
    const { sql, log, clock, folders } = this.#services;
    const { id, tenant, createdBy, workspace } = this.#agent;
    if (!(await folders.answers(workspace))) return true;
    const hinted = new Set(names);
    const files = (await readNewestFiles(sql, id)).filter(({ path }) => hinted.has(path));
    const { changes } = await checkFiles(workspace, files);
    if (changes.length === 0) return true;
    const at = clock.now();
    const before = new Map(files.map(({ path, change }) => [path, change]));
    const outcome = await log.commit(
      tenant,
      { agentId: id, createdBy, events: changedEvents(changes).map((body) => ({ at, body })) },
      {
        filesFound: changeRows(changes).map(({ path, callId, change }) => ({
          path,
          callId,
          change,
          before: before.get(path) ?? null,
        })),
        notices: fileNotices({ id, tenant }, changes, at),
      },
    );
    return outcome.outcome === "COMMITTED";
  }
}
