import { describe, expect, it } from "vitest";
import { CreateAgentDocument, SendMessageDocument } from "../generated/documents.ts";
import { startTestApp } from "../support/app.ts";
import { connect } from "../support/client.ts";

describe("idempotency keys", () => {
  it("do the same request once, also at once, and refuse another body", async () => {
    const client = connect((await startTestApp()).url);
    const input = { templateId: "assistant", idempotencyKey: "k1" };
    const created = await Promise.all(Array.from({ length: 5 }, () => client.get(CreateAgentDocument, { input })));
    expect(new Set(created.map((answer) => answer.createAgent.agent?.id)).size).toBe(1);
    expect(
      (await client.get(CreateAgentDocument, { input: { ...input, toolTimeoutMs: 5 } })).createAgent.userErrors,
    ).toMatchObject([{ code: "IDEMPOTENCY_KEY_REUSED", field: ["idempotencyKey"] }]);
    const agentId = created[0]?.createAgent.agent?.id ?? "";
    const sent = await Promise.all(
      Array.from({ length: 5 }, () => client.get(SendMessageDocument, { input: { agentId, text: "hi", idempotencyKey: "k1" } })),
    );
    expect(new Set(sent.map((answer) => answer.sendMessage.message?.id)).size).toBe(1);
    expect(
      (await client.get(SendMessageDocument, { input: { agentId, text: "ho", idempotencyKey: "k1" } })).sendMessage.userErrors,
    ).toMatchObject([{ code: "IDEMPOTENCY_KEY_REUSED" }]);
  });
});
