import fc from "fast-check";
import { expect, it } from "vitest";
import { contextAt } from "../../src/agent/conversation/context-at.ts";
import type { ModelRequest } from "../../src/agent/models/model.ts";
import { rowId } from "../../src/lib/global-id.ts";
import { CompactAgentDocument, ForkAgentDocument, StandstillDocument } from "../generated/documents.ts";
import { startTestApp } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { ownTool } from "../support/tools.ts";
import { windowedModel, type Played } from "../support/windowed-model.ts";

const CONVERSATIONS = 200;
const AT_ONCE = 8;

type Act =
  | { readonly kind: "turn"; readonly characters: number; readonly calls: number; readonly output: number }
  | { readonly kind: "fork"; readonly back: number }
  | { readonly kind: "compact" };

const ACT: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("turn" as const),
      characters: fc.integer({ min: 1, max: 9_000 }),
      calls: fc.nat(2),
      output: fc.integer({ min: 1, max: 6_000 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("fork" as const), back: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("compact" as const) }) },
);

const tool = ownTool("reads", async (input) => ({ output: "o".repeat(Number(Object(input).characters)), details: null }));

/** Calls the tool as often as the newest message of the person asks for. */
function reply({ messages }: ModelRequest): Played {
  const asked = messages.findLastIndex(({ content }) =>
    content.some((block) => block.type === "text" && /^calls /.test(block.text)),
  );
  const [, calls = "0", output = "0"] = /"calls (\d+) of (\d+)/.exec(JSON.stringify(messages[asked])) ?? [];
  const done = messages.slice(asked).filter(({ role }) => role === "assistant").length;
  return done < Number(calls) ? { tool: "reads", input: { characters: Number(output) } } : { text: "ok" };
}

it(
  `each step of ${CONVERSATIONS} generated conversations with forks and compactions is proved`,
  { timeout: 120_000 },
  async () => {
    const model = windowedModel({ window: 8_000, reply, summary: () => "A summary of what was said." });
    const app = await startTestApp({
      model,
      config: { tools: [tool] },
      template: { tools: ["reads"], permission: { mode: "auto" } },
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

    const left = fc.sample(fc.array(ACT, { minLength: 1, maxLength: 7 }), { numRuns: CONVERSATIONS, seed: 46 });
    const work = async (): Promise<void> => {
      for (let acts = left.pop(); acts !== undefined; acts = left.pop()) await converse(acts);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    expect(seen.forks).toBeGreaterThan(50);
    expect(seen.steps).toBeGreaterThan(500);
    expect(model.summaries.length).toBeGreaterThan(20);
  },
);
