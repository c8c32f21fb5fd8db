import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { createLogger, LOG_EVENTS, type LogFormat, type LogLevel, LineLimit } from "../../src/telemetry/log.ts";
import { LogStream } from "../../src/telemetry/log-stream.ts";

function loggerOf(format: LogFormat, level: LogLevel = "info") {
  const lines: string[] = [];
  const logger = createLogger({ format, level, server: "one", write: (line) => void lines.push(line) });
  return { lines, logger, objects: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

/** An error as drivers and clients throw them: with a request, a connection and a token. */
function loadedError(): Error {
  const error = new Error("it failed", { cause: new Error("deeper, with sk-secret") });
  return Object.assign(error, { code: "ECONNRESET", headers: { authorization: "Bearer sk-secret" }, socket: { self: null } });
}

describe("a line of the log", () => {
  it("is JSON with the time, the level, the server and the names of what it is about", () => {
    const { logger, objects } = loggerOf("json");
    logger.tell("takeover", "an agent was taken over", { tenant: "acme", agent: "a1", count: 2 });
    logger.warn("odd", { consumer: "on.DONE" });
    logger.error("broken", loadedError());
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string;
    expect(objects()).toEqual([
      {
        level: "warn",
        time,
        server: "one",
        event: "takeover",
        tenant: "acme",
        agent: "a1",
        count: 2,
        msg: "an agent was taken over",
      },
      { level: "warn", time, server: "one", consumer: "on.DONE", msg: "odd" },
      {
        level: "error",
        time,
        server: "one",
        error: { message: "it failed", code: "ECONNRESET", stack: expect.stringContaining("log.test.ts") },
        msg: "broken",
      },
    ]);
  });

  it("has of an error what it says, where, and its code: never a header, a cause or a connection", () => {
    const { lines, logger } = loggerOf("json");
    logger.error("broken", loadedError());
    logger.tell("own_code_failed", "the call threw", {}, loadedError());
    expect(lines.join("")).not.toContain("sk-secret");
  });

  it.each(["text", "json"] as const)("takes whatever was thrown (%s)", (format) => {
    const { lines, logger } = loggerOf(format);
    const odd = [undefined, null, 0, "text", {}, [], Symbol("s"), Object.create(null), new Proxy({}, {}), () => {}, 10n];
    for (const [index, thrown] of odd.entries()) expect(() => logger.error(`line ${index} of one`, thrown)).not.toThrow();
    const getter = Object.defineProperty(new Error("x"), "stack", {
      get: () => {
        throw new Error("no stack");
      },
    });
    expect(() => logger.error("a getter that throws", getter)).not.toThrow();
    expect(lines.length).toBeGreaterThan(odd.length - 2);
  });

  it("hides nothing from a person at a terminal, and takes one line but for a stack", () => {
    const { lines, logger } = loggerOf("text");
    logger.warn("a name \u001b[31mred\u001b[0m\nwith \u202e turns", { tool: "own\ntool" });
    expect(lines).toEqual([
      expect.stringMatching(
        /^\d\d:\d\d:\d\d WARN {2}a name \\u001b\[31mred\\u001b\[0m\\u000awith \\u202e turns tool=own\\u000atool\n$/,
      ),
    ]);
    logger.error("broken", new Error("it failed"));
    expect(lines[1]?.split("\n").slice(0, 2)).toEqual([expect.stringMatching(/ERROR broken$/), "    Error: it failed"]);
  });

  it("is not written below the level that is asked for", () => {
    for (const [level, many] of [
      ["debug", 3],
      ["info", 3],
      ["warn", 2],
      ["error", 1],
      ["silent", 0],
    ] as const) {
      const { lines, logger } = loggerOf("json", level);
      logger.tell("start", "started");
      logger.warn("odd");
      logger.error("broken");
      expect(lines, level).toHaveLength(many);
    }
  });

  it("of a process of an MCP server is written at the level debug only", () => {
    for (const [level, many] of [
      ["info", 0],
      ["debug", 1],
    ] as const) {
      const { lines, logger } = loggerOf("json", level);
      logger.tell("mcp_server_said", "a line");
      expect(lines, level).toHaveLength(many);
    }
  });

  it("of one kind is written thirty times a minute at most, and then says how many were left out", () => {
    const { objects, logger } = loggerOf("json");
    for (let index = 0; index < 1_000; index += 1)
      logger.warn(`call 01a22366-b23d-7d72-8dac-${String(index).padStart(12, "0")} took ${index} ms (reason ${index})`);
    logger.warn("another kind");
    expect(objects()).toHaveLength(31);
  });

  it("has an event that docs/operations.md tells of", async () => {
    const guide = await readFile(new URL("../../docs/operations.md", import.meta.url), "utf8");
    for (const event of Object.keys(LOG_EVENTS)) expect(guide, event).toContain(`\`${event}\``);
  });
});

it("lines that were left out are counted with the next one of their kind", () => {
  let now = 0;
  const limit = new LineLimit(() => now);
  const leftOut: number[] = [];
  const take = (): boolean => limit.take("it failed 17 times", (count) => leftOut.push(count));
  for (let index = 0; index < 50; index += 1) take();
  now = 60_000;
  expect(take()).toBe(false);
  expect(leftOut).toEqual([20]);
  expect(take()).toBe(true);
});

describe("the stream of the log", () => {
  it("keeps a bounded part of what nobody reads, and neither waits nor fails", () => {
    const stream = {
      writableLength: 0,
      write: (line: string) => ((stream.writableLength += line.length), false),
      on: () => stream,
    };
    const lines = new LogStream(stream as never);
    for (let index = 0; index < 5_000; index += 1) lines.write("x".repeat(1_000));
    expect(stream.writableLength).toBeLessThan(1_100_000);
    expect(lines.lost).toBeGreaterThan(3_900);
  });

  it("outlives its reader", () => {
    let fail: (error: Error) => void = () => {};
    const stream = {
      writableLength: 0,
      write: () => true,
      on: (_event: string, listener: (error: Error) => void) => ((fail = listener), stream),
    };
    const lines = new LogStream(stream as never);
    fail(new Error("EPIPE"));
    lines.write("x\n");
    expect(lines.lost).toBe(1);
  });
});
