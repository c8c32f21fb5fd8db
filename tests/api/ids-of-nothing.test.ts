import { describe, expect, it } from "vitest";
import {
  AgentDocument,
  CreateAgentDocument,
  DecideApprovalDocument,
  InterruptAgentDocument,
  NodeDocument,
  PollTimelineDocument,
  SendMessageDocument,
} from "../generated/documents.ts";
import { globalId } from "../../src/lib/global-id.ts";
import { startTestApp } from "../support/app.ts";
import { connect } from "../support/client.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");

describe("ids that name nothing", () => {
  it("are null at `node` and in `nodes`, and leave the others of a list as they are", async () => {
    const app = await startTestApp();
    const { id } = await connect(app.url).createAgent();
    const none = [
      "nonsense",
      "",
      "Zebra",
      globalId("Agent", "a\0b"),
      ...["Zebra:1", "ActorRef:USER:a\0b", "Template:"].map(base64),
    ];
    const query = `query ($ids: [ID!]!, ${none.map((_, index) => `$n${index}: ID!`).join(", ")}) {
      nodes(ids: $ids) { id } ${none.map((_, index) => `n${index}: node(id: $n${index}) { id }`).join(" ")} }`;
    const variables = { ids: [id, ...none, id], ...Object.fromEntries(none.map((text, index) => [`n${index}`, text])) };
    const response = await fetch(app.url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query, variables }),
    });
    expect(await response.json()).toEqual({
      data: {
        nodes: [{ id }, ...none.map(() => null), { id }],
        ...Object.fromEntries(none.map((_, index) => [`n${index}`, null])),
      },
    });
  });

  it("are answered with NOT_FOUND, each at its field", async () => {
    const client = connect((await startTestApp()).url);
    const agentId = globalId("Agent", "11111111-1111-4111-8111-111111111111");
    expect((await client.get(CreateAgentDocument, { input: { templateId: "nobody" } })).createAgent).toMatchObject({
      agent: null,
      userErrors: [{ code: "NOT_FOUND", field: ["templateId"], message: expect.stringContaining("assistant") }],
    });
    expect(
      (await client.get(CreateAgentDocument, { input: { templateId: "assistant", model: "gpt" } })).createAgent.userErrors,
    ).toMatchObject([{ code: "NOT_FOUND", field: ["model"] }]);
    expect(
      (await client.get(CreateAgentDocument, { input: { templateId: "assistant", workspace: "/etc" } })).createAgent.userErrors,
    ).toMatchObject([{ code: "INVALID", field: ["workspace"] }]);
    expect(
      (await client.get(CreateAgentDocument, { input: { templateId: "assistant", toolTimeoutMs: 0 } })).createAgent.userErrors,
    ).toMatchObject([{ code: "INVALID", field: ["toolTimeoutMs"] }]);
    for (const id of [
      agentId,
      "nonsense",
      "",
      globalId("Approval", "1"),
      globalId("Agent", "'; DROP TABLE agent; --"),
      globalId("Agent", "a\0b"),
    ]) {
      expect((await client.get(SendMessageDocument, { input: { agentId: id, text: "hi" } })).sendMessage).toMatchObject({
        message: null,
        userErrors: [{ code: "NOT_FOUND", field: ["agentId"] }],
      });
      expect((await client.get(InterruptAgentDocument, { input: { agentId: id } })).interruptAgent.userErrors).toMatchObject([
        { code: "NOT_FOUND" },
      ]);
      expect(
        (await client.get(DecideApprovalDocument, { input: { approvalId: id, decision: "DENY" } })).decideApproval.userErrors,
      ).toMatchObject([{ code: "NOT_FOUND", field: ["approvalId"] }]);
      expect((await client.get(AgentDocument, { id })).agent).toBeNull();
      expect((await client.ask(PollTimelineDocument, { agentIds: [id] })).errors).toMatchObject([
        { extensions: { code: "NOT_FOUND" } },
      ]);
    }
    expect((await client.get(NodeDocument, { id: agentId })).node).toBeNull();
  });
});
