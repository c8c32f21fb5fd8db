import { describe, expect, it } from "vitest";
import { SendMessageDocument } from "../generated/documents.ts";
import { startTestApp } from "../support/app.ts";
import { connect, ofType } from "../support/client.ts";
import { ownTool } from "../support/tools.ts";

describe("messages that nobody takes", () => {
  it("are refused when too many wait, and none is lost", async () => {
    const release = Promise.withResolvers<void>();
    const app = await startTestApp({
      config: { tools: [ownTool("holds", async () => ({ output: String(await release.promise), details: null }))] },
      script: {
        replies: [
          { when: { user: "hold" }, call: [{ tool: "holds" }] },
          { when: {}, say: ["Hello."] },
        ],
      },
    });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.send(agent.id, "hold");
    await client.until(agent.id, "TOOL_START");
    // Even if they come all at once.
    const sent = await Promise.all(
      Array.from({ length: 120 }, async (_, index) => {
        const { sendMessage } = await client.get(SendMessageDocument, { input: { agentId: agent.id, text: `message ${index}` } });
        return sendMessage.userErrors.map(({ code }) => code);
      }),
    );
    expect(sent.filter((codes) => codes.length === 0)).toHaveLength(100);
    expect(new Set(sent.flat())).toEqual(new Set(["QUEUE_FULL"]));
    expect(
      (await client.get(SendMessageDocument, { input: { agentId: agent.id, text: "one more" } })).sendMessage.userErrors,
    ).toMatchObject([{ code: "QUEUE_FULL" }]);
    release.resolve();
    const [done] = ofType(await client.until(agent.id, "DONE"), "Done");
    expect(done?.messageIds).toHaveLength(101);
  });
});
