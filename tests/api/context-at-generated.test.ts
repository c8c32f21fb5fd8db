import fc from "fast-check";
import { Type } from "typebox";
import { expect, it } from "vitest";
import { contextAt } from "../../src/agent/conversation/context-at.ts";
import { ModelError, type ModelRequest } from "../../src/agent/models/model.ts";
import { defineTool } from "../../src/agent/tools/tool.ts";
import { rowId } from "../../src/lib/global-id.ts";
import { CompactAgentDocument, ForkAgentDocument, StandstillDocument } from "../generated/documents.ts";
import { startTestApp } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { windowedModel, type Played } from "../support/windowed-model.ts";

const CONVERSATIONS = 200;
const AT_ONCE = 8;

type Act =
  | { readonly kind: "turn"; readonly characters: number; readonly calls: number; readonly output: number }
  | { readonly kind: "fork"; readonly back: number }
  | { readonly kind: "compact" };

type Range = readonly [min: number, max: number];

function turn(ranges: { readonly characters: Range; readonly calls: Range; readonly output: Range }): fc.Arbitrary<Act> {
  const within = ([min, max]: Range): fc.Arbitrary<number> => fc.integer({ min, max });
  const { characters, calls, output } = ranges;
  const kind = fc.constant("turn" as const);
  return fc.record({ kind, characters: within(characters), calls: within(calls), output: within(output) });
}

const ACT: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: turn({ characters: [1, 9_000], calls: [0, 1], output: [1, 6_000] }) },
  { weight: 2, arbitrary: turn({ characters: [1, 200], calls: [6, 12], output: [1_000, 4_000] }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("fork" as const), back: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("compact" as const) }) },
);

const tool = defineTool({
  name: "reads",
  description: "Reads.",
  readOnly: true,
  inputSchema: Type.Object({ characters: Type.Integer() }),
  run: ({ characters }) => "o".repeat(characters),
});

/** Calls the tool as often as the newest message of the person asks for. */
function reply({ messages }: ModelRequest): Played {
  const asked = messages.findLastIndex(({ content }) =>
    content.some((block) => block.type === "text" && block.text.startsWith("calls ")),
  );
  const [, calls = "0", output = "0"] = /"calls (\d+) of (\d+)/.exec(JSON.stringify(messages[asked])) ?? [];
  const done = messages.slice(asked).filter(({ role }) => role === "assistant").length;
  return done < Number(calls) ? { tool: "reads", input: { characters: Number(output) } } : { text: "ok" };
}

/** Fails now and then, so that the other ways are taken. */
function summary({ messages }: ModelRequest): string {
  if (JSON.stringify(messages).length % 2 === 0) throw new ModelError("rejected", "no summary");
  return "A summary of what was said.";
}

it(
  `each step of ${CONVERSATIONS} generated conversations with forks and compactions is proved`,
  { timeout: 240_000 },
  async () => {
    const model = windowedModel({ window: 8_000, reply, summary });
    const app = await startTestApp({
      model,
      config: { tools: [tool] },
      template: { tools: ["reads"], permission: { mode: "auto" }, context: { target: 0.6, keepRecentTokens: 1_000 } },
      overrides: { models: new Map([["test", model]]) },
    });
    const client = connect(app.url);
    const seen = { steps: 0, forks: 0 };

    async function converse(acts: readonly Act[]): Promise<void> {
      let { id } = await client.createAgent();
      const ids = [id];
      for (const act of acts)
        if (act.kind === "turn") await client.turn(id, `calls ${act.calls} of ${act.output} ${"m".repeat(act.characters)}`);
        else if (act.kind === "compact") await client.get(CompactAgentDocument, { input: { agentId: id } });
        else {
          const points = (await client.get(StandstillDocument, { id })).agent?.forkPoints?.nodes ?? [];
          const messageId = points.at(act.back)?.messageId;
          if (messageId === undefined) continue;
          const { forkAgent } = await client.get(ForkAgentDocument, { input: { agentId: id, messageId } });
          id = forkAgent.agent?.id ?? "";
          ids.push(id);
          seen.forks += 1;
        }
      for (const each of ids) await expectProved(each);
    }

    async function expectProved(id: string): Promise<void> {
      const agentId = rowId("Agent", id);
      const reads = { sql: app.database.sql, transcripts: app.services.transcripts };
      for (let step = 1; ; step += 1) {
        const found = await contextAt(reads, { tenant: "local", agentId, step });
        if (found === null) return;
        expect({ id, step, isProved: found.isProved, missing: found.missing }).toEqual({
          id,
          step,
          isProved: true,
          missing: [],
        });
        seen.steps += 1;
      }
    }

    const left = fc.sample(fc.array(ACT, { minLength: 1, maxLength: 5 }), { numRuns: CONVERSATIONS, seed: 46 });
    const work = async (): Promise<void> => {
      for (let acts = left.pop(); acts !== undefined; acts = left.pop()) await converse(acts);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    expect(seen.forks).toBeGreaterThan(50);
    expect(seen.steps).toBeGreaterThan(500);
    const text = "SELECT method, count(*)::int AS compactions FROM compaction WHERE state = 'APPLIED' GROUP BY 1 ORDER BY 1";
    const applied = await app.database.sql.query<{ readonly method: string }, []>({ name: "applied", text }, []);
    expect(applied.map(({ method }) => method)).toEqual(expect.arrayContaining(["CLEARED", "SUMMARY"]));
  },
);
