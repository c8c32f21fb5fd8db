import { describe, expect, it } from "vitest";
import { Appender } from "../../src/events/appender.ts";
import { EventLog } from "../../src/events/log.ts";
import { Outbox } from "../../src/events/outbox.ts";
import type { Sql } from "../../src/db/sql.ts";
import type { EventDraft } from "../../src/events/event.ts";
import { testDatabase } from "../support/database.ts";
import { chunk, deltas, everything, insertAgent, readAll } from "../support/log.ts";
import { aroundWrites, writeOf } from "../support/writes.ts";

async function outbox(wrap: (sql: Sql) => Sql = (sql) => sql) {
  const { sql } = await testDatabase();
  const log = new EventLog(wrap(sql));
  const agent = await insertAgent(log, "one");
  await sql.query({ name: "own", text: "UPDATE agent SET lease_owner = 'here'" }, []);
  const lost: unknown[] = [];
  return {
    sql,
    log,
    lost,
    outbox: new Outbox({ tenant: "one", ...agent, owner: "here", epoch: 0 }, log, new Appender(log), (reason) =>
      lost.push(reason),
    ),
  };
}

/** Counts the writes. */
/** Keeps the names of the statements that write into the log. */
function counting(statements: string[]): (sql: Sql) => Sql {
  return (sql) => ({
    ...sql,
    query: (statement, values) => {
      if (writeOf(statement, values) !== null) statements.push(statement.name);
      return sql.query(statement, values);
    },
  });
}

const end = (text: string): EventDraft => ({
  at: new Date(),
  body: { kind: "TEXT_CHUNK_END", step: 1, block: 0, text, aborted: false },
});

describe("outbox", () => {
  it("keeps the order: deltas never come after their TEXT_CHUNK_END", async () => {
    const { log, outbox: box } = await outbox();
    for (let index = 0; index < 50; index += 1) box.send(chunk(index === 0 ? "0" : ` ${index}`));
    await box.commit({}, [end("all")]);
    const events = await readAll(log, everything("one"));
    expect(deltas(events).join("")).toBe(Array.from({ length: 50 }, (_, index) => `${index}`).join(" "));
    expect(events.at(-1)?.body.kind).toBe("TEXT_CHUNK_END");
  });

  it("groups what comes within one turn of the event loop, and while a write is under way", async () => {
    const statements: string[] = [];
    const { log, outbox: box } = await outbox(counting(statements));
    statements.length = 0;
    box.send(chunk("first"));
    await Promise.resolve();
    for (let index = 0; index < 100; index += 1) {
      box.send(chunk(`${index}`));
      await Promise.resolve();
    }
    await box.commit({}, [end("all")]);
    expect(statements.length).toBeLessThanOrEqual(3);
    expect(await readAll(log, everything("one"))).toHaveLength(2);
  });

  it("carries nothing away with a commit that is refused", async () => {
    const { log, outbox: box } = await outbox();
    box.send(chunk("kept"));
    const refused = box.commit({ expectSignal: 7 }, [end("refused")]);
    box.send(chunk("after"));
    expect((await refused).outcome).toBe("CONFLICT");
    await box.commit({}, [end("accepted")]);
    const events = await readAll(log, everything("one"));
    expect(deltas(events)).toEqual(["kept", "after"]);
    expect(events).toHaveLength(3);
  });

  it("keeps what is sent after a commit behind it", async () => {
    const { log, outbox: box } = await outbox();
    box.send(chunk("before"));
    const committing = box.commit({}, [end("the commit's")]);
    box.send(chunk("after"));
    await committing;
    await box.commit({}, []);
    expect(
      (await readAll(log, everything("one"))).map(({ body }) => (body.kind === "TEXT_CHUNK" ? body.delta : body.kind)),
    ).toEqual(["before", "TEXT_CHUNK_END", "after"]);
  });

  it("keeps its events if the database refuses a commit, and is lost if the outcome is unknown", async () => {
    let fails: object | null = null;
    const failing = (sql: Sql): Sql =>
      aroundWrites(sql, ({ change }, write) => (fails !== null && change !== null ? Promise.reject(fails) : write()));
    const { log, lost, outbox: box } = await outbox(failing);
    fails = Object.assign(new Error("invalid input"), { code: "22P02" });
    box.send(chunk("kept"));
    await expect(box.commit({}, [end("refused")])).rejects.toThrow("invalid input");
    fails = null;
    await box.commit({}, []);
    expect(deltas(await readAll(log, everything("one")))).toEqual(["kept"]);
    expect(lost).toEqual([]);
  });

  it("writes nothing behind an append that was lost (invariant 2)", async () => {
    const away = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    let isAway = false;
    const failing = (sql: Sql): Sql =>
      aroundWrites(sql, async ({ change }, write) => {
        if (!isAway || change !== null) return write();
        begun.resolve();
        await away.promise;
        throw Object.assign(new Error("refused for good"), { code: "22P02" });
      });
    const { log, lost, outbox: box } = await outbox(failing);
    isAway = true;
    box.send(chunk("first"));
    await begun.promise;
    const committing = box.commit({}, [end("behind it")]);
    away.resolve();
    expect((await committing).outcome).toBe("FENCED");
    expect(lost).toHaveLength(1);
    expect(await readAll(log, everything("one"))).toEqual([]);
  });

  it("says when its agent was fenced", async () => {
    const { sql, log, lost, outbox: box } = await outbox();
    await sql.query({ name: "t", text: "UPDATE agent SET lease_epoch = 1" }, []);
    box.send(chunk("stale"));
    expect((await box.commit({}, [])).outcome).toBe("FENCED");
    expect(lost).toEqual(["FENCED"]);
    expect(await readAll(log, everything("one"))).toEqual([]);
  });
});
