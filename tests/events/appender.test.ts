import { setImmediate as macrotask } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { Appender } from "../../src/events/appender.ts";
import type { TimelineEvent } from "../../src/events/event.ts";
import { EventLog } from "../../src/events/log.ts";
import type { AgentEvents } from "../../src/events/write.ts";
import { Outbox } from "../../src/events/outbox.ts";
import { testDatabase } from "../support/database.ts";
import { chunk, deltas, everything, insertAgent, readAll } from "../support/log.ts";
import { aroundWrites } from "../support/writes.ts";

/** A log with an agent that speaks; the commits of others are under way until `settle`, and pauses last until `goOn`. */
async function busyTenant() {
  const { sql } = await testDatabase();
  const held = Promise.withResolvers<void>();
  const log = new EventLog(
    aroundWrites(sql, async ({ kinds }, write) => {
      if (kinds.includes("TEXT_CHUNK_END")) await held.promise;
      return write();
    }),
  );
  const speaker = await insertAgent(log, "one");
  const other = await insertAgent(log, "one");
  const paused = Promise.withResolvers<void>();
  const pauses: number[] = [];
  const pause = async (ms: number): Promise<void> => {
    pauses.push(ms);
    await paused.promise;
  };
  // No append takes any time, however slow the machine is.
  const appender = new Appender(log, pause, () => 0);
  const text = (delta: string): AgentEvents => ({ ...speaker, events: [chunk(delta)] });
  const commit = (): Promise<unknown> =>
    log.commit(
      "one",
      {
        ...other,
        events: [{ at: new Date(), body: { kind: "TEXT_CHUNK_END", step: 1, block: 0, text: "", aborted: false } }],
      },
      {},
    );
  await sql.query({ name: "own", text: "UPDATE agent SET lease_owner = 'here' WHERE id = $1" }, [speaker.agentId]);
  return { log, appender, speaker, text, commit, pauses, settle: held.resolve, goOn: paused.resolve };
}

describe("the pace of text (issue 12, scale of the loop)", () => {
  it("is not slowed if nothing else is written", async () => {
    const { appender, text, pauses } = await busyTenant();
    for (const delta of ["a", "b", "c"]) await appender.append("one", text(delta));
    expect(pauses).toEqual([]);
  });

  it("leaves the log to commits that are under way: the next append waits, and takes with it what came meanwhile", async () => {
    const { log, appender, text, commit, pauses, settle, goOn } = await busyTenant();
    const committing = commit();
    await appender.append("one", text("at once"));
    const later = appender.append("one", text(" later"));
    let isWritten = false;
    void later.then(() => (isWritten = true));
    settle();
    await committing;
    expect(pauses).toHaveLength(1);
    expect(pauses[0]).toBeGreaterThan(0);
    expect(isWritten).toBe(false);
    expect(deltas(await readAll(log, everything("one")))).toEqual(["at once"]);
    goOn();
    await later;
    expect(deltas(await readAll(log, everything("one")))).toEqual(["at once", " later"]);
    await appender.append("one", text(" and on"));
    expect(pauses).toHaveLength(1);
  });
});

describe("the pace of text behind a commit", () => {
  it("keeps no commit waiting that is behind text of its own agent", async () => {
    const { log, appender, text, commit, speaker, settle } = await busyTenant();
    const committing = commit();
    await appender.append("one", text("others'"));
    const outbox = new Outbox({ tenant: "one", ...speaker, owner: "here", epoch: 0 }, log, appender, () => {});
    outbox.send(chunk("own"));
    // Until the text is with the appender, a commit would carry it.
    for (let turns = 0; turns < 3; turns += 1) await macrotask();
    // The pause is still on: nothing ends it but the commit.
    await outbox.commit({}, [{ at: new Date(), body: { kind: "TEXT_CHUNK_START", step: 1, block: 1 } }]);
    settle();
    await committing;
    expect(deltas(await readAll(log, everything("one")))).toEqual(["others'", "own"]);
  });

  it("nor one that is behind more of it than one append takes", async () => {
    const { log, appender, text, commit, speaker, settle } = await busyTenant();
    const committing = commit();
    await appender.append("one", text("others'"));
    const outbox = new Outbox({ tenant: "one", ...speaker, owner: "here", epoch: 0 }, log, appender, () => {});
    const blocks = Array.from({ length: 450 }, (_, block) => block);
    for (const block of blocks) outbox.send({ at: new Date(), body: { kind: "TEXT_CHUNK", step: 1, block, delta: "own" } });
    for (let turns = 0; turns < 3; turns += 1) await macrotask();
    await outbox.commit({}, [{ at: new Date(), body: { kind: "TEXT_CHUNK_START", step: 2, block: 0 } }]);
    settle();
    await committing;
    expect(deltas(await readAll(log, everything("one")))).toHaveLength(451);
  });
});

describe("batches", () => {
  it("never hold one agent twice: the older lease's part is fenced by itself (invariants 1 and 4)", async () => {
    const { sql } = await testDatabase();
    const log = new EventLog(sql);
    const agent = await insertAgent(log, "one");
    await sql.query({ name: "t", text: "UPDATE agent SET lease_owner = 'here', lease_epoch = 1" }, []);
    const appender = new Appender(log);
    const announced: TimelineEvent[] = [];
    log.onCommitted((_tenant, events) => void announced.push(...events));
    const outcomes = await Promise.all(
      [
        { ...agent, fence: { owner: "here", epoch: 1 }, events: [chunk("first")] },
        { ...agent, fence: { owner: "here", epoch: 0 }, events: [chunk("stale")] },
        { ...agent, fence: { owner: "here", epoch: 1 }, events: [chunk("good")] },
      ].map((part) => appender.append("one", part)),
    );
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(["COMMITTED", "FENCED", "COMMITTED"]);
    expect(announced).toEqual(await readAll(log, everything("one")));
    expect(deltas(announced)).toEqual(["first", "good"]);
  });
});
