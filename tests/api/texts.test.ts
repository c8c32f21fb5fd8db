import { describe, expect, it } from "vitest";
import {
  AgentsDocument,
  CreateAgentDocument,
  InterruptAgentDocument,
  SendMessageDocument,
  ToolCallsDocument,
} from "../generated/documents.ts";
import { startTestApp } from "../support/app.ts";
import { connect, ofType, textOf } from "../support/client.ts";
import { SCRIPT } from "../support/office.ts";

describe("texts", () => {
  it("that are empty or too large are refused with a typed error, and nothing is lost", async () => {
    const client = connect((await startTestApp()).url);
    const agent = await client.createAgent();
    const send = async (text: string) =>
      (await client.get(SendMessageDocument, { input: { agentId: agent.id, text } })).sendMessage;
    expect((await send("")).userErrors).toMatchObject([{ code: "INVALID", field: ["text"] }]);
    expect((await send(" \n\t ")).userErrors).toMatchObject([{ code: "INVALID" }]);
    expect((await send("x".repeat(5 * 1024 * 1024))).userErrors).toMatchObject([{ code: "TOO_LARGE", field: ["text"] }]);
    expect((await client.post({ query: "{ x }", padding: "x".repeat(9 * 1024 * 1024) })).status).toBe(413);
    const large = "é".repeat(500_000);
    const events = await client.turn(agent.id, large);
    expect(ofType(events, "MessageReceived")).toEqual([]);
    const [received] = ofType(await client.until(agent.id, "MESSAGE_RECEIVED"), "MessageReceived");
    expect(received?.text).toBe(large);
  });

  it("keep NUL and lone surrogates visible, and the agent works on", async () => {
    const client = connect((await startTestApp({ script: { replies: [{ when: {}, say: ["{{user}}"] }] } })).url);
    const agent = await client.createAgent();
    const events = await client.turn(agent.id, "a\0b\ud800c");
    expect(textOf(events)).toBe("a\u2400b\ufffdc");
  });
});

describe("NUL in any other text", () => {
  it("is refused or replaced, never an error of the server's own", async () => {
    const app = await startTestApp({ script: SCRIPT });
    const client = connect(app.url);
    const agent = await client.createAgent();
    expect(
      (await client.get(CreateAgentDocument, { input: { templateId: "assistant", workspace: "a\0b" } })).createAgent.userErrors,
    ).toMatchObject([{ code: "INVALID", field: ["workspace"] }]);
    expect((await client.get(CreateAgentDocument, { input: { templateId: "a\0b" } })).createAgent.userErrors).toMatchObject([
      { code: "NOT_FOUND" },
    ]);
    expect(
      (await client.get(SendMessageDocument, { input: { agentId: agent.id, text: "hi", idempotencyKey: "a\0b" } })).sendMessage
        .userErrors,
    ).toMatchObject([{ code: "INVALID", field: ["idempotencyKey"] }]);
    expect((await client.get(ToolCallsDocument, { filter: { tools: ["a\0b"] } })).toolCalls.nodes).toEqual([]);
    expect(
      (
        await client.ask(AgentsDocument, {
          after: Buffer.from(JSON.stringify(["agents CREATED_AT DESC", "2026-01-01T00:00:00Z", "a\0b"])).toString("base64url"),
        })
      ).errors,
    ).toMatchObject([{ extensions: { code: "BAD_USER_INPUT" } }]);
    expect(
      (await client.ask(ToolCallsDocument, { filter: { created: { from: "-271821-04-20T00:00:00Z" } } })).errors[0]?.message,
    ).toContain("ISO 8601");
    await client.send(agent.id, "write a.txt");
    const [required] = ofType(await client.until(agent.id, "PERMISSION_REQUIRED"), "PermissionRequired");
    const decided = await client.decide({ approvalId: required?.request.approvalId ?? "", decision: "DENY", note: "a\0b" });
    expect(decided.approval?.note).toBe("a\u2400b");
    await client.get(InterruptAgentDocument, { input: { agentId: agent.id, note: "a\0b" } });
  });
});
