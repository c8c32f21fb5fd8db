import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { Commit } from "../../src/agent/loop/commits/commit.ts";
import { claim, LEASE_TIMES } from "../../src/agent/loop/lease.ts";
import { readView, type AgentView } from "../../src/agent/loop/view.ts";
import { composeCommit, type CommitPlace } from "../../src/db/commit/composed-commit.ts";
import type { Database } from "../../src/db/database.ts";
import type { Sql } from "../../src/db/sql.ts";
import { sqlState } from "../../src/db/storage-error.ts";
import type { EventLog } from "../../src/events/log.ts";
import { columns, encodePart } from "../../src/events/write.ts";
import { possibleCommits } from "./commits.ts";
import { heldAgent } from "./held-agent.ts";
import { playedModel } from "./models.ts";
import { testServices } from "./services.ts";

/** The server that owns the agents of a test. */
export const OWNER = "here";

/** An agent that the test owns, in the tenant `one`. */
export type Owned = { readonly sql: Sql; readonly log: EventLog; readonly view: AgentView };

/** A new agent with a message, held by the test. */
export async function owned({ sql }: Database): Promise<Owned> {
  const services = testServices(sql, playedModel());
  const { agentId, send } = await heldAgent(services);
  await send("go");
  await claim(sql, OWNER, [agentId], LEASE_TIMES, "RUN_OUT");
  return { sql, log: services.log, view: await readView(sql, agentId) };
}

/** The part of the log that a commit of an owner gives, with events of one time. */
export function partOf(view: AgentView, { events }: Pick<Commit, "events">): Parameters<EventLog["commitHeld"]>[1] {
  const drafts = events.map((body) => ({ at: new Date("2026-01-02T00:00:00.000Z"), body }));
  return { agentId: view.id, createdBy: view.createdBy, fence: { owner: OWNER, epoch: view.leaseEpoch }, events: drafts };
}

/** Commits, and gives the outcome and what the rows say then. */
export async function commit({ sql, log, view }: Owned, made: Commit): Promise<{ outcome: string; view: AgentView }> {
  const { outcome } = await log.commitHeld(view.tenant, partOf(view, made), made.change);
  return { outcome, view: await readView(sql, view.id) };
}

/** One of the commits that are possible by name; fails if it is none of them. */
export function possible(view: AgentView, name: string): Commit {
  const found = possibleCommits(view).find((each) => each.name === name);
  if (found === undefined) throw new Error(`${name} is not possible`);
  return found.make();
}

/** Makes commits by their names, one after the other. */
export async function committed(agent: Owned, names: readonly string[]): Promise<Owned> {
  let { view } = agent;
  for (const name of names) {
    const done = await commit({ ...agent, view }, possible(view, name));
    expect(done.outcome, name).toBe("COMMITTED");
    view = done.view;
  }
  return { ...agent, view };
}

/** Takes the agent to a call that is PENDING. */
export function withPendingCall(agent: Owned): Promise<Owned> {
  return committed(agent, ["turn started", "step started", "answered with 1 calls, tool_use"]);
}

/** Makes a commit by its statement alone: what that refuses goes to no function. Tries again while others have a row for long. */
export async function compose(sql: Sql, view: AgentView, made: Commit, writeId: string = randomUUID()): Promise<CommitPlace[]> {
  const composed = composeCommit(made.change);
  if (composed === null) throw new Error("the commit is not composed");
  const { events } = encodePart(partOf(view, made));
  const values = [view.tenant, view.id, OWNER, view.leaseEpoch, writeId, ...columns(events), ...composed.values];
  for (;;) {
    try {
      return await sql.query(composed.statement, values);
    } catch (error) {
      if (sqlState(error) !== "55P03") throw error;
    }
  }
}
