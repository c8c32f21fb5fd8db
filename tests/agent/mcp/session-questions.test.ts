import { AsyncResource } from "node:async_hooks";
import { describe, expect, it } from "vitest";
import { SessionQuestions } from "../../../src/agent/mcp/asking/session-questions.ts";
import type { CalledBy } from "../../../src/agent/mcp/call.ts";
import type { McpServer } from "../../../src/agent/mcp/server.ts";
import type { InputAnswer } from "../../../src/agent/tools/question.ts";
import { silentLogger } from "../../support/silent-logger.ts";

const SERVER: McpServer = {
  name: "own",
  way: { kind: "stdio", command: "x", args: [], env: {}, cwd: "/", sandbox: "none" },
  variableValues: [],
  include: null,
  exclude: [],
  readOnlyTools: [],
  roots: "asked",
  toolTimeoutMs: null,
};

const PARAMS = { message: "Which city?", requestedSchema: { type: "object", properties: {} } };
const YES: InputAnswer = { action: "accept", values: {} };

/** The questions of a session, by a clock of the test. */
function session() {
  const time = { ms: 0 };
  const errors: unknown[] = [];
  const logger = { ...silentLogger, error: (_message: string, cause?: unknown) => void errors.push(cause) };
  const questions = new SessionQuestions(SERVER, { clock: { monotonicMs: () => time.ms }, logger });
  const ask = (withdrawn = new AbortController().signal, more: object = {}) =>
    questions.answer({ ...PARAMS, ...more }, withdrawn);
  /** Begins a call; `askOnStream` asks as on its stream, `end` ends it, and `cut` cuts it off. */
  const begin = (agentId: string, askPerson: CalledBy["askPerson"] = async () => YES) => {
    const cutting = new AbortController();
    const { promise, resolve } = Promise.withResolvers<void>();
    const by = { agentId, root: "/", signal: cutting.signal, answered: null, askPerson };
    let askOnStream = ask;
    const ended = questions.during(by, () => {
      askOnStream = AsyncResource.bind(ask);
      return promise;
    });
    const end = async () => {
      resolve();
      await ended;
    };
    const cut = async () => {
      cutting.abort();
      await end();
    };
    return { end, cut, askOnStream };
  };
  return { time, errors, begin, ask };
}

describe("a question of the older generation", () => {
  it("is that of the only call under way", async () => {
    const { begin, ask } = session();
    await expect(ask()).rejects.toThrow("no call is under way");
    const first = begin("anna");
    expect(await ask()).toEqual(YES);
    const second = begin("anna");
    await expect(ask()).rejects.toThrow("several calls are under way, and the question names none");
    await second.end();
    expect(await ask()).toEqual(YES);
    await first.end();
  });

  it("that arrives on the stream of a call is that of this call, or of none", async () => {
    const { begin } = session();
    const asked: string[] = [];
    const said = (who: string) => async () => {
      asked.push(who);
      return YES;
    };
    const anna = begin("anna", said("anna"));
    const ben = begin("ben", said("ben"));
    for (const { askOnStream } of [ben, anna, ben]) expect(await askOnStream()).toEqual(YES);
    await anna.cut();
    await expect(anna.askOnStream()).rejects.toThrow("the call has ended");
    expect(await ben.askOnStream()).toEqual(YES);
    await ben.end();
    expect(asked).toEqual(["ben", "anna", "ben", "ben"]);
  });

  it("is refused if it is that of a task, whose agent may be another one", async () => {
    const { begin, ask } = session();
    begin("anna");
    const of = { _meta: { "io.modelcontextprotocol/related-task": { taskId: "t-1" } } };
    await expect(ask(undefined, of)).rejects.toThrow("a task asks");
    expect(await ask(undefined, { _meta: { other: 1 } })).toEqual(YES);
  });

  it("is refused for 60 s after a call of another agent was cut off: it may be that call's", async () => {
    const { time, begin, ask } = session();
    await begin("anna").cut();
    const call = begin("ben");
    time.ms = 59_999;
    await expect(ask()).rejects.toThrow("a call of another agent was cut off in the last 60 s");
    await call.end();
    const own = begin("anna");
    expect(await ask()).toEqual(YES);
    await own.end();
    begin("ben");
    time.ms = 60_000;
    expect(await ask()).toEqual(YES);
  });

  it("is refused beyond 16 of its call, with those that were withdrawn", async () => {
    const { begin, ask } = session();
    let asked = 0;
    const call = begin("anna", async (_question, withdrawn) => {
      asked += 1;
      if (!withdrawn.aborted) await new Promise((resolve) => withdrawn.addEventListener("abort", resolve, { once: true }));
      return { action: "cancel" };
    });
    const withdraw = async () => {
      const withdrawing = new AbortController();
      const answer = ask(withdrawing.signal);
      withdrawing.abort();
      return answer;
    };
    for (let at = 0; at < 16; at += 1) expect(await withdraw()).toEqual({ action: "cancel" });
    await expect(withdraw()).rejects.toThrow("16 questions were asked in this call");
    expect(asked).toBe(16);
    await call.end();
    begin("anna");
    expect(await ask()).toEqual(YES);
  });

  it("waits for the end of a withdrawn one, and is refused beside an open one", async () => {
    const { begin, ask } = session();
    const first = Promise.withResolvers<InputAnswer>();
    const answers = [first.promise, Promise.resolve(YES)];
    begin("anna", () => answers.shift() ?? Promise.reject(new Error("asked once more")));
    const withdrawing = new AbortController();
    const withdrawn = ask(withdrawing.signal);
    await expect(ask()).rejects.toThrow("a question of this call is open");
    withdrawing.abort();
    const next = ask();
    first.resolve({ action: "cancel" });
    expect(await withdrawn).toEqual({ action: "cancel" });
    expect(await next).toEqual(YES);
  });

  it("has no error of Triplane in its answer: the log has it", async () => {
    const { errors, begin, ask } = session();
    const cause = new Error("the table approval is full at 10.0.0.1");
    begin("anna", () => Promise.reject(cause));
    await expect(ask()).rejects.toThrow(/^the question could not be answered$/);
    expect(errors).toEqual([cause]);
  });
});
