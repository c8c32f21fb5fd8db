import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { IMAGE_BYTES, Images, storedImage, type SentImage, type StoredBlock } from "../../../src/agent/conversation/images.ts";
import type { MessageKind } from "../../../src/db/generated/enums.ts";
import type { ContentBlock } from "../../../src/agent/models/model.ts";
import type { Sql } from "../../../src/db/sql.ts";
import { EventLog } from "../../../src/events/log.ts";
import { Transcripts, type AddedMessages } from "../../../src/agent/conversation/transcript.ts";
import { testDatabase } from "../../support/database.ts";
import { insertAgent } from "../../support/log.ts";

const MB = 1024 * 1024;

const ADD_IMAGE = {
  name: "add_image",
  text: "INSERT INTO image (tenant, digest, data, taken_at) VALUES ('acme', $1, decode($2, 'base64'), now()) ON CONFLICT DO NOTHING",
};
const ADD_MESSAGE = {
  name: "add_message",
  text: `INSERT INTO message (id, tenant, agent_id, kind, content, bytes, ordinal, created_by, created_at) VALUES ($1, 'acme', $2, $3::message_kind, $4::json, $5, $6, $7, now())`,
};

/** A conversation: `add` appends a message, whose images become rows of their own, and `note` one that the server itself wrote. */
async function conversation() {
  const { sql } = await testDatabase();
  const { agentId } = await insertAgent(new EventLog(sql), "acme");
  let length = 0;
  const insert = async (kind: MessageKind, content: readonly ContentBlock[], createdBy: string | null): Promise<void> => {
    const blocks: StoredBlock[] = [];
    for (const block of content) {
      if (block.type !== "image") {
        blocks.push(block);
        continue;
      }
      const image = storedImage(block.source.media_type, block.source.data);
      blocks.push(image.block);
      await sql.query(ADD_IMAGE, [image.row.digest, image.row.data]);
    }
    const text = JSON.stringify(blocks);
    await sql.query(ADD_MESSAGE, [randomUUID(), agentId, kind, text, Buffer.byteLength(text), length, createdBy]);
    length += 1;
  };
  return {
    sql,
    agentId,
    add: (kind: MessageKind, content: readonly ContentBlock[]) => insert(kind, content, kind === "USER" ? "anna" : null),
    note: (text: string) => insert("USER", [{ type: "text", text }], null),
  };
}

const inline = (bytes: number, seed: number): SentImage => ({
  type: "image",
  source: { type: "base64", media_type: "image/png", data: Buffer.alloc(bytes, seed).toString("base64") },
});

/** A message that an owner is about to commit. */
function notCommitted(agentId: string, bytes: number): AddedMessages[number] {
  const content = [{ type: "text", text: "x".repeat(bytes) }];
  const none = {
    arrival: null,
    turn: 1,
    step: 1,
    createdBy: null,
    createdByKind: null,
    erasedAt: null,
    withdrawnAt: null,
    reminder: null,
  };
  return {
    ...none,
    id: randomUUID(),
    tenant: "acme",
    agentId,
    kind: "ASSISTANT",
    content,
    bytes,
    ordinal: 63,
    createdAt: new Date(),
  };
}

describe("the transcript's window is bounded in bytes, whatever people and tools send (invariant 13)", () => {
  it("the newest images go to the model up to their room, and a text stands in the place of the others", async () => {
    const { sql, agentId, add } = await conversation();
    for (let turn = 0; turn < 12; turn += 1)
      await add("USER", [inline(2 * MB, turn % 10), { type: "text", text: `look ${turn}` }]);
    const transcript = new Transcripts(new Images()).of(sql, "acme", agentId);
    const [message] = await (await transcript.window({ transcriptLength: 12, compaction: null }, 200)).messages();
    const blocks = message?.content ?? [];
    const images = blocks.filter((block) => block.type === "image");
    expect(images).toHaveLength(Math.floor(IMAGE_BYTES / (2 * MB)));
    expect(images.at(-1)).toEqual(inline(2 * MB, 1));
    expect(blocks.filter((block) => block.type === "text" && block.text === "[an image that was sent earlier]")).toHaveLength(5);
  });

  it("a long turn keeps its task, says what is left out, and its newest steps whole", async () => {
    const { sql, agentId, add } = await conversation();
    await add("USER", [{ type: "text", text: "before" }]);
    await add("ASSISTANT", [{ type: "text", text: "done" }]);
    await add("USER", [{ type: "text", text: "the task" }]);
    for (let step = 0; step < 30; step += 1) {
      await add("ASSISTANT", [{ type: "tool_use", id: `call ${step}`, name: "read", input: {} }]);
      const output = "x".repeat(MB);
      await add("TOOL_RESULTS", [{ type: "tool_result", tool_use_id: `call ${step}`, content: output, is_error: false }]);
    }
    const transcript = new Transcripts(new Images()).of(sql, "acme", agentId);
    const messages = await (await transcript.window({ transcriptLength: 63, compaction: null }, 200)).messages();
    // What is about to be committed would take it past the bound: it is read again after the commit.
    expect(transcript.windowWith([notCommitted(agentId, 10)], { compaction: null }, 200)).not.toBeNull();
    expect(transcript.windowWith([notCommitted(agentId, 4 * MB)], { compaction: null }, 200)).toBeNull();
    expect(messages[0]?.content.map((block) => block.type === "text" && block.text)).toEqual([
      "the task",
      "[what was said and done here at first is left out: it was too long]",
    ]);
    expect(JSON.stringify(messages).length).toBeLessThan(8.1 * MB);
    const [asked, ...steps] = messages;
    expect(asked?.role).toBe("user");
    expect(steps.map(({ role }) => role)).toEqual(
      Array.from({ length: 14 }, (_, index) => (index % 2 === 0 ? "assistant" : "user")),
    );
    expect(steps.at(-2)?.content).toEqual([{ type: "tool_use", id: "call 29", name: "read", input: {} }]);
  });

  it("one answer whose results alone are too long goes to the model with them", async () => {
    const { sql, agentId, add } = await conversation();
    await add("USER", [{ type: "text", text: "the task" }]);
    await add("ASSISTANT", [{ type: "tool_use", id: "call", name: "read", input: {} }]);
    await add("TOOL_RESULTS", [{ type: "tool_result", tool_use_id: "call", content: "x".repeat(9 * MB), is_error: false }]);
    const transcript = new Transcripts(new Images()).of(sql, "acme", agentId);
    expect(
      (await (await transcript.window({ transcriptLength: 3, compaction: null }, 200)).messages()).map(({ role }) => role),
    ).toEqual(["user", "assistant", "user"]);
  });

  it("the task begins the window of a long turn, wherever the server has noted something", async () => {
    const { sql, agentId, add, note } = await conversation();
    await add("USER", [{ type: "text", text: "the task" }]);
    for (let step = 0; step < 12; step += 1) {
      await add("ASSISTANT", [{ type: "tool_use", id: `call ${step}`, name: "read", input: {} }]);
      await add("TOOL_RESULTS", [{ type: "tool_result", tool_use_id: `call ${step}`, content: "x", is_error: false }]);
      if (step === 4) await note("a file was changed");
    }
    const transcript = new Transcripts(new Images()).of(sql, "acme", agentId);
    const [asked] = await (await transcript.window({ transcriptLength: 26, compaction: null }, 8)).messages();
    expect(asked?.content).toEqual([{ type: "text", text: "the task" }]);
  });

  it("all owners of a server share one room: what was used longest ago is forgotten, and read again", async () => {
    const agents = await Promise.all(Array.from({ length: 3 }, conversation));
    for (const { add } of agents) await add("USER", [{ type: "text", text: "x".repeat(MB) }]);
    const transcripts = new Transcripts(new Images(), 2.5 * MB);
    let reads = 0;
    const counting = (sql: Sql): Sql => ({
      ...sql,
      query: (statement, values) => {
        if (statement.name === "load_transcript") reads += 1;
        return sql.query(statement, values);
      },
    });
    const windows = agents.map(({ sql, agentId }) => transcripts.of(counting(sql), "acme", agentId));
    for (const window of windows) await (await window.window({ transcriptLength: 1, compaction: null }, 200)).messages();
    expect(transcripts.bytes).toBeLessThan(2.5 * MB);
    await (await windows[2]?.window({ transcriptLength: 1, compaction: null }, 200))?.messages();
    expect(reads).toBe(3);
    await (await windows[0]?.window({ transcriptLength: 1, compaction: null }, 200))?.messages();
    expect(reads).toBe(4);
    for (const window of windows) window.invalidate();
    expect(transcripts.bytes).toBe(0);
  });

  it("the image of a task of before is there, however long its turn is", async () => {
    const { sql, agentId, add } = await conversation();
    await add("USER", [inline(100, 1), { type: "text", text: "describe it" }]);
    for (let step = 0; step < 25; step += 1) {
      await add("ASSISTANT", [{ type: "tool_use", id: `call ${step}`, name: "read", input: {} }]);
      await add("TOOL_RESULTS", [{ type: "tool_result", tool_use_id: `call ${step}`, content: "x", is_error: false }]);
    }
    const transcript = new Transcripts(new Images()).of(sql, "acme", agentId);
    const [asked] = await (await transcript.window({ transcriptLength: 51, compaction: null }, 40)).messages();
    expect(asked?.content[0]).toEqual(inline(100, 1));
  });
});
