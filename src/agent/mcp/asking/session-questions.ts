import { AsyncLocalStorage } from "node:async_hooks";
import { isJsonObject, type Json } from "../../../lib/json.ts";
import type { Clock } from "../../../lib/time.ts";
import type { Logger } from "../../../telemetry/log.ts";
import type { InputAnswer } from "../../tools/question.ts";
import type { CalledBy } from "../call.ts";
import { QuestionRefused, readQuestion } from "./elicitation.ts";
import { withoutTokens, type McpServer } from "../server.ts";

/** The most questions of one call, with those that were withdrawn. */
const MOST_QUESTIONS = 16;

/** The time in which a server may still ask for a call that was cut off, in ms. */
const LATE_MS = 60_000;

/** An error inside of Triplane: the server is not told of its cause. */
class Unanswered extends Error {
  override readonly name = "Error";
  /** The code of JSON-RPC for internal errors. */
  readonly code = -32_603;
}

/** The field by which all messages of a task name it (2025-11-25). Its agent may be another one than that of a call. */
const RELATED_TASK = "io.modelcontextprotocol/related-task";

function isOfTask(params: Json | undefined): boolean {
  const meta = isJsonObject(params) ? params["_meta"] : null;
  return isJsonObject(meta) && RELATED_TASK in meta;
}

type Asking = { count: number; open: { readonly withdrawn: AbortSignal; readonly ended: Promise<unknown> } | null };

/**
 * The questions of one session of the older generation. A question names no call. At an address it arrives on the stream of
 * its call, which is read in the asynchronous context of that call. Otherwise it is that of the only call under way. It is
 * refused where it may be that of another call.
 */
export class SessionQuestions {
  readonly #server: McpServer;
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #logger: Pick<Logger, "error">;
  readonly #calls = new Map<CalledBy, Asking>();
  /** The call whose request, or stream, is at work. */
  readonly #stream = new AsyncLocalStorage<CalledBy>();
  /** When calls were last cut off, by their agents. */
  readonly #cut = new Map<string, number>();

  constructor(
    server: McpServer,
    { clock, logger }: { readonly clock: Pick<Clock, "monotonicMs">; readonly logger: Pick<Logger, "error"> },
  ) {
    this.#server = server;
    this.#clock = clock;
    this.#logger = logger;
  }

  /** The call is under way during `work`. */
  async during<Answer>(by: CalledBy, work: () => Promise<Answer>): Promise<Answer> {
    this.#calls.set(by, { count: 0, open: null });
    try {
      return await this.#stream.run(by, work);
    } finally {
      this.#calls.delete(by);
      if (by.signal.aborted) this.#noteCut(by.agentId);
    }
  }

  /** Asks a person. Rejects with the reason if the question is refused. */
  async answer(params: Json | undefined, withdrawn: AbortSignal): Promise<InputAnswer> {
    try {
      return await this.#answer(params, withdrawn);
    } catch (error) {
      if (error instanceof QuestionRefused || withdrawn.aborted) throw error;
      const { name } = this.#server;
      this.#logger.error(`a question of the MCP server ${name} was not answered`, error, { mcpServer: name });
      throw new Unanswered("the question could not be answered");
    }
  }

  async #answer(params: Json | undefined, withdrawn: AbortSignal): Promise<InputAnswer> {
    const given = isJsonObject(params) ? withoutTokens(this.#server, params) : params;
    const question = readQuestion(this.#server.name, given);
    if (isOfTask(given)) throw new QuestionRefused("a task asks, which cannot be given input here: nobody is asked");
    const [by, asking] = this.#callThatAsks();
    // An agent closes a withdrawn question before it asks the next one.
    while (asking.open?.withdrawn.aborted === true) await asking.open.ended;
    if (asking.open !== null) throw new QuestionRefused("a question of this call is open: nobody is asked");
    if (!this.#calls.has(by)) throw new QuestionRefused("the call has ended: nobody is asked");
    if (asking.count >= MOST_QUESTIONS)
      throw new QuestionRefused(`${MOST_QUESTIONS} questions were asked in this call: nobody is asked`);
    asking.count += 1;
    const answer = by.askPerson(question, withdrawn);
    const open = { withdrawn, ended: answer.catch(() => {}) };
    asking.open = open;
    try {
      return await answer;
    } finally {
      asking.open = null;
    }
  }

  #callThatAsks(): readonly [CalledBy, Asking] {
    const streaming = this.#stream.getStore();
    if (streaming !== undefined) {
      const asking = this.#calls.get(streaming);
      if (asking === undefined) throw new QuestionRefused("the call has ended: nobody is asked");
      return [streaming, asking];
    }
    const [calling, ...others] = this.#calls;
    if (calling === undefined) throw new QuestionRefused("no call is under way: nobody is asked");
    if (others.length > 0) throw new QuestionRefused("several calls are under way, and the question names none: nobody is asked");
    const since = this.#clock.monotonicMs() - LATE_MS;
    const [{ agentId }] = calling;
    if ([...this.#cut].some(([other, at]) => other !== agentId && at > since))
      throw new QuestionRefused(
        `a call of another agent was cut off in the last ${LATE_MS / 1_000} s, and the question names no call: nobody is asked`,
      );
    return calling;
  }

  #noteCut(agentId: string): void {
    const now = this.#clock.monotonicMs();
    for (const [other, at] of this.#cut) if (at <= now - LATE_MS) this.#cut.delete(other);
    this.#cut.set(agentId, now);
  }
}
