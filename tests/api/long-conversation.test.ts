import { expect, it } from "vitest";
import type { ModelRequest } from "../../src/agent/models/model.ts";
import { startTestApp } from "../support/app.ts";
import { connect, ofType } from "../support/client.ts";
import { ownTool } from "../support/tools.ts";
import { tokensOf, windowedModel, type Played } from "../support/windowed-model.ts";

const WINDOW = 8_000;
const TURNS = 80;

const textOf = (request: ModelRequest | undefined): string => JSON.stringify(request?.messages);

/** A summariser that keeps the lines that are marked as facts, of the conversation and of the earlier summary. */
function keepsFacts(request: ModelRequest): string {
  const facts = /FACT [a-z]+ is [a-z]+/g;
  return [...new Set(textOf(request).match(facts) ?? [])].join("\n") || "No facts.";
}

it.each([
  ["keeps what is marked", keepsFacts, true],
  ["keeps nothing", () => "Nothing.", false],
] as const)(
  "a conversation of many windows never fails; a summariser that %s has no say in words and rows",
  async (_what, summary, keeps) => {
    const todos = [{ id: "1", title: "paint the fence", status: "in_progress" }];
    const reply = (request: ModelRequest): Played => {
      const end = textOf(request).slice(-2_500);
      if (/begin/.test(end) && !/todo_write/.test(end)) return { tool: "todo_write", input: { todos } };
      return /look/.test(end) && !/"tool_result"/.test(end) ? { tool: "reads", input: {} } : { text: "ok" };
    };
    const model = windowedModel({ window: WINDOW, reply, summary });
    const reads = ownTool("reads", async () => ({ output: `${"x".repeat(2_000)} FACT tool is steel`, details: null }));
    const template = { tools: ["reads", "todo_write"], permission: { mode: "auto" as const } };
    const app = await startTestApp({ model, config: { tools: [reads] }, template });
    const client = connect(app.url);
    const { id } = await client.createAgent();
    await client.turn(id, "begin");
    for (let turn = 1; turn < TURNS; turn += 1) {
      const fact = turn === 10 ? "FACT colour is blue" : "";
      await client.turn(id, `${turn % 4 === 0 ? "look" : "talk"} ${turn} ${fact} ${"m".repeat(1_000)}`);
    }
    const events = await client.events(id);
    expect(ofType(events, "Done").map(({ reason }) => reason)).toEqual(Array(TURNS).fill("COMPLETED"));
    expect(ofType(events, "ErrorRaised")).toEqual([]);
    const ends = ofType(events, "ContextCompression").filter(({ compressionPhase }) => compressionPhase === "END");
    expect(ends.length).toBeGreaterThan(3);
    expect(Math.max(...model.requests.map(tokensOf))).toBeLessThan(WINDOW);
    const last = textOf(model.requests.at(-1));
    expect(last.includes("FACT colour is blue")).toBe(keeps);
    expect(last).toContain("[in_progress] paint the fence");
    expect(last).toContain(`${TURNS - 2} `);
  },
);
