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

  it("are good for texts with half a character, too", async () => {
    const client = connect((await startTestApp()).url);
    const create = async (title: string, deny: string) => {
      const query = `mutation ($title: String, $deny: [String!]) {
        created: createAgent(input: { templateId: "assistant", title: $title, permission: { deny: $deny }, idempotencyKey: "k" }) {
          agent { id title } userErrors { code }
        }
      }`;
      type Created = { readonly agent: { readonly id: string; readonly title: string } | null };
      const { data, errors } = await client.post<{ created: Created }>({ query, variables: { title, deny: [deny] } });
      expect(errors).toEqual([]);
      return data?.created;
    };
    const created = await create("half \ud800", "fs_read(path:\udc00)");
    expect(created).toMatchObject({ agent: { title: "half \ufffd" }, userErrors: [] });
    expect(await create("half \ud800", "fs_read(path:\udc00)")).toEqual(created);
    expect(await create("half \ud800", "fs_read(path:x)")).toMatchObject({
      agent: null,
      userErrors: [{ code: "IDEMPOTENCY_KEY_REUSED" }],
    });
    const delegate = `mutation ($note: String, $until: DateTime!) {
      delegateApprovals(input: { toActorId: "anna", until: $until, note: $note, idempotencyKey: "k" }) {
        delegation { note } userErrors { code }
      }
    }`;
    const until = new Date(Date.now() + 60_000).toISOString();
    for (let times = 0; times < 2; times += 1) {
      const { data, errors } = await client.post({ query: delegate, variables: { note: "half \ud800", until } });
      expect({ data, errors }).toEqual({
        data: { delegateApprovals: { delegation: { note: "half \ufffd" }, userErrors: [] } },
        errors: [],
      });
    }
  });
});
