import { describe, expect, it } from "vitest";
import { errorClass, shownProblem } from "../../src/db/storage-error.ts";

const sql = (code: string): Error => Object.assign(new Error("PostgreSQL says so"), { code });
const socket = (code: string): Error => Object.assign(new Error(code), { code, syscall: "read" });

describe("what an error means", () => {
  it.each([
    ["a connection that was lost", sql("08006"), "outage"],
    ["a shutdown", sql("57P01"), "outage"],
    ["a crash of another process", sql("57P02"), "outage"],
    ["a server that starts up", sql("57P03"), "outage"],
    ["a primary that was demoted", sql("25006"), "outage"],
    ["a connection that was idle in a transaction", sql("25P03"), "outage"],
    ["a transaction that took too long", sql("25P04"), "outage"],
    ["a password that was changed", sql("28P01"), "outage"],
    ["a role that may not connect any more", sql("28000"), "outage"],
    ["a database that is not there", sql("3D000"), "outage"],
    ["a socket that was reset", socket("ECONNRESET"), "outage"],
    ["a pipe that broke, whose code looks like PostgreSQL's", socket("EPIPE"), "outage"],
    ["a port at which nobody listens", Object.assign(new Error("x"), { code: "ECONNREFUSED" }), "outage"],
    ["the driver: ended without a code", new Error("Connection terminated unexpectedly"), "outage"],
    ["the driver: no connection in time", new Error("timeout exceeded when trying to connect"), "contention"],
    ["the driver: no answer in time", new Error("Query read timeout"), "outage"],
    ["a statement that was cancelled", sql("57014"), "contention"],
    ["a deadlock", sql("40P01"), "contention"],
    ["a lock that was not to be had", sql("55P03"), "contention"],
    ["a full disk", sql("53100"), "contention"],
    ["no memory", sql("53200"), "contention"],
    ["too many connections", sql("53300"), "contention"],
    ["an error of the file system", sql("58030"), "contention"],
    ["a constraint", sql("23505"), "refused"],
    ["a text that is no number", sql("22P02"), "refused"],
    ["a table that is not there", sql("42P01"), "refused"],
    ["too deep a stack", sql("54001"), "refused"],
    ["one of our own", sql("TP002"), "refused"],
    ["a mistake of ours before the statement was sent", new TypeError("x is not a function"), "refused"],
    ["no error at all", "text", "refused"],
  ] as const)("%s", (_name, error, expected) => {
    expect(errorClass(error)).toBe(expected);
  });
});

describe("what people read of a database's error", () => {
  const secrets = /10\.0\.0\.7|triplane_owner|message_agent_key/;
  it.each([
    [
      Object.assign(new Error("connect ECONNREFUSED 10.0.0.7:5432"), { code: "ECONNREFUSED", syscall: "connect" }),
      "ECONNREFUSED",
    ],
    [Object.assign(new Error('password authentication failed for user "triplane_owner"'), { code: "28P01" }), "28P01"],
    [Object.assign(new Error('violates unique constraint "message_agent_key"'), { code: "23505" }), "23505"],
    [Object.assign(new Error("no space left on 10.0.0.7"), { code: "53100" }), "53100"],
    [new Error("Connection terminated unexpectedly"), "does not answer"],
  ])("%s: a title and a code, and no name of a host, a user or a constraint", (error, told) => {
    expect(shownProblem(error)).toContain(told);
    expect(shownProblem(error)).not.toMatch(secrets);
  });

  it("what is no error of the database stays as it is", () => {
    expect(shownProblem(new Error("a turn could not be started"))).toBe("a turn could not be started");
  });
});
