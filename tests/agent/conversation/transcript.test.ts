import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AnswerBuilder } from "../../../src/agent/conversation/answer.ts";
import { Images, type StoredBlock } from "../../../src/agent/conversation/images.ts";
import { modelMessages, Transcripts, type AddedMessages } from "../../../src/agent/conversation/transcript.ts";
import { contextWindow, withinImageBudget, type TranscriptMessage } from "../../../src/agent/conversation/window.ts";
import { NO_TOKENS } from "../../../src/agent/models/model.ts";
import { OutageWatch, type Sql, type Statement } from "../../../src/db/sql.ts";
import type { Json } from "../../../src/lib/json.ts";

/** A transcript of turns, each with so many tool steps. */
function transcript(toolSteps: readonly number[]): TranscriptMessage[] {
  const kinds = toolSteps.flatMap(
    (steps) =>
      [
        "USER",
        ...Array.from({ length: steps }, () => ["ASSISTANT", "TOOL_RESULTS"]).flat(),
        "ASSISTANT",
      ] as TranscriptMessage["kind"][],
  );
  return kinds.map((kind, ordinal) => ({
    ordinal,
    kind,
    isOfPerson: kind === "USER",
    content: [{ type: "text", text: `${ordinal}` }],
    bytes: 1,
  }));
}

/** The same with a note of the server behind the results at each of these places, if there are results. */
function withNotes(messages: readonly TranscriptMessage[], places: readonly number[]): TranscriptMessage[] {
  const note = { kind: "USER", isOfPerson: false, content: [{ type: "text", text: "a file was changed" }], bytes: 1 } as const;
  return messages
    .flatMap((message) =>
      message.kind === "TOOL_RESULTS" && places.includes(message.ordinal) ? [message, { ...note, ordinal: 0 }] : [message],
    )
    .map(({ kind, isOfPerson, content, bytes }, ordinal) => ({ ordinal, kind, isOfPerson, content, bytes }));
}

const turns = fc.array(fc.integer({ min: 0, max: 8 }), { minLength: 1, maxLength: 40 });

describe("contextWindow", () => {
  it("is everything while it fits", () => {
    const messages = transcript([1, 1]);
    expect(contextWindow(messages, 8)).toEqual(messages);
  });

  it("begins with a person's message, ends with the newest, and separates no call from its result", () => {
    fc.assert(
      fc.property(turns, fc.integer({ min: 4, max: 40 }), (steps, size) => {
        const messages = transcript(steps);
        const window = contextWindow(messages, size);
        expect(window[0]?.kind).toBe("USER");
        expect(window.at(-1)).toBe(messages.at(-1));
        const turnSize = Math.max(...steps) * 2 + 2;
        expect(window.length).toBeLessThanOrEqual(Math.max(size, turnSize) + turnSize);
      }),
    );
  });

  it("begins with a person's message and has the newest one, wherever the server has noted something", () => {
    const places = fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 200 });
    fc.assert(
      fc.property(turns, places, fc.integer({ min: 4, max: 40 }), (steps, noted, size) => {
        const messages = withNotes(transcript(steps), noted);
        const window = contextWindow(messages, size);
        expect(window[0]?.isOfPerson).toBe(true);
        expect(window).toContain(messages.findLast(({ isOfPerson }) => isOfPerson));
      }),
    );
  });

  it("keeps the task and the newest results if a message joins late in a long turn", () => {
    const messages = [
      ...transcript([200]).slice(0, -1),
      { ordinal: 401, kind: "USER", isOfPerson: true, content: [], bytes: 0 } as const,
    ];
    const window = contextWindow(messages, 200);
    expect(window[0]?.ordinal).toBe(0);
    expect(window.length).toBe(402);
  });

  it("moves in steps, so that most consecutive calls share their beginning (prompt caching)", () => {
    const all = transcript(Array.from({ length: 200 }, () => 0));
    const starts = Array.from({ length: 300 }, (_, index) => contextWindow(all.slice(0, 60 + index), 40)[0]?.ordinal);
    const moves = starts.filter((start, index) => index > 0 && start !== starts[index - 1]).length;
    expect(moves).toBeLessThanOrEqual(31);
  });
});

describe("modelMessages", () => {
  it("makes neighbours of one role one message", () => {
    const messages = modelMessages([
      { kind: "USER", content: [{ type: "text", text: "a" }] },
      { kind: "USER", content: [{ type: "text", text: "b" }] },
      { kind: "ASSISTANT", content: [{ type: "text", text: "c" }] },
    ]);
    expect(messages.map((message) => [message.role, message.content.length])).toEqual([
      ["user", 2],
      ["assistant", 1],
    ]);
  });
});

it("old images give way to a text if the newest fill the request", () => {
  const image: StoredBlock = {
    type: "image",
    source: { type: "kept", media_type: "image/png", digest: "d", bytes: 6 * 1024 * 1024 },
  };
  const messages = [0, 1, 2].map((ordinal) => ({
    ordinal,
    kind: "USER" as const,
    isOfPerson: true,
    content: [image, { type: "text" as const, text: "look" }],
    bytes: 200,
  }));
  const kinds = withinImageBudget(messages).map((message) => message.content.map((block) => block.type));
  expect(kinds).toEqual([
    ["text", "text"],
    ["image", "text"],
    ["image", "text"],
  ]);
  expect(withinImageBudget(messages.slice(1))).toEqual(messages.slice(1));
});

it("no more than the newest 20 images are sent: with more of them, a provider takes smaller ones only", () => {
  const image = (ordinal: number): StoredBlock => ({
    type: "image",
    source: { type: "kept", media_type: "image/png", digest: String(ordinal), bytes: 1_000 },
  });
  const messages = Array.from({ length: 25 }, (_, ordinal) => ({
    ordinal,
    kind: "USER" as const,
    isOfPerson: true,
    content: [image(ordinal)],
    bytes: 200,
  }));
  const kinds = withinImageBudget(messages).flatMap((message) => message.content.map((block) => block.type));
  expect(kinds).toEqual([...Array<string>(5).fill("text"), ...Array<string>(20).fill("image")]);
});

it("half a character in the arguments of a call is remembered as it is stored: some providers refuse it", () => {
  const answer = new AnswerBuilder("a model");
  answer.addCall(0, "call", "fs_write", '{"content": "x\\ud83dy"}');
  const { content } = answer.finish("tool_use", NO_TOKENS, false);
  expect(content).toEqual([{ type: "tool_use", id: "call", name: "fs_write", input: { content: "x\ufffdy" } }]);
});

it("what is read late is not remembered in the place of what was committed meanwhile", async () => {
  const reads: PromiseWithResolvers<object[]>[] = [];
  const query = (({ name }: Statement) => {
    if (name !== "load_transcript") return Promise.resolve([]);
    const read = Promise.withResolvers<object[]>();
    reads.push(read);
    return read.promise;
  }) as Sql["query"];
  const sql: Sql = { query, outages: new OutageWatch(async () => {}), keepsPrepared: true };
  const transcript = new Transcripts(new Images()).of(sql, "acme", "agent");
  const asked = { ordinal: 0, kind: "USER", isOfPerson: true, content: [{ type: "text", text: "go" }], bytes: 2 };
  const windows = [1, 2].map(() => transcript.window({ transcriptLength: 1, compaction: null }, 200));
  await expect.poll(() => reads.length).toBe(2);
  reads[0]?.resolve([asked]);
  await windows[0];
  transcript.committed({ messages: [message("ASSISTANT", 1, [{ type: "tool_use", id: "call", name: "read", input: {} }])] });
  reads[1]?.resolve([asked]);
  await windows[1];
  const result = { type: "tool_result", tool_use_id: "call", content: "text", is_error: false };
  const next = await transcript.windowWith([message("TOOL_RESULTS", 2, [result])], { compaction: null }, 200)?.messages();
  expect(next?.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
});

/** A message that an owner has committed, or is about to. */
function message(kind: "ASSISTANT" | "TOOL_RESULTS", ordinal: number, content: Json): AddedMessages[number] {
  const none = { arrival: null, createdBy: null, createdByKind: null, erasedAt: null, withdrawnAt: null, reminder: null };
  const own = { id: `message ${ordinal}`, tenant: "acme", agentId: "agent", turn: 1, step: 1, createdAt: new Date() };
  return { ...none, ...own, kind, ordinal, content, bytes: 10 };
}
