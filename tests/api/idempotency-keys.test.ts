import { describe, expect, it } from "vitest";
import {
  CreateAgentDocument,
  DelegateApprovalsDocument,
  ForkAgentDocument,
  SendMessageDocument,
} from "../generated/documents.ts";
import { startTestApp } from "../support/app.ts";
import { connect, ofType } from "../support/client.ts";

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

  it("belong to a person or a program: those of one id have keys of their own", async () => {
    const authenticate = ({ token }: { readonly token: string | null }) =>
      ({ id: "ana", kind: token === "service" ? "SERVICE" : "USER", tenant: "one", roles: ["user"] }) as const;
    const { url } = await startTestApp({ config: { authenticate } });
    const input = { templateId: "assistant", idempotencyKey: "k" };
    const create = async (token: string) => (await connect(url, token).get(CreateAgentDocument, { input })).createAgent.agent?.id;
    const [person, program] = [await create("person"), await create("service")];
    expect(program).not.toBe(person);
    expect([await create("person"), await create("service")]).toEqual([person, program]);
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

  it("answer again with the place that the log had reached then: what came of the request is found behind it", async () => {
    const app = await startTestApp();
    const client = connect(app.url);
    const twice = async <Payload extends { readonly cursor: string }>(ask: () => Promise<Payload>): Promise<Payload> => {
      const first = await ask();
      await client.createAgent();
      expect((await ask()).cursor).toBe(first.cursor);
      return first;
    };
    const idempotencyKey = "lost";
    const create = async () =>
      (await client.get(CreateAgentDocument, { input: { templateId: "assistant", idempotencyKey } })).createAgent;
    const agentId = (await twice(create)).agent?.id ?? "";
    const send = async () =>
      (await client.get(SendMessageDocument, { input: { agentId, text: "hi", idempotencyKey } })).sendMessage;
    await client.until(agentId, "DONE", (await send()).cursor);
    await twice(send);
    await twice(async () => (await client.get(ForkAgentDocument, { input: { agentId, idempotencyKey } })).forkAgent);
    const until = new Date(Date.now() + 60_000).toISOString();
    const delegation = { toActorId: "anna", until, idempotencyKey };
    await twice(async () => (await client.get(DelegateApprovalsDocument, { input: delegation })).delegateApprovals);
    const run = (name: string, text: string): Promise<unknown[]> => app.database.sql.query({ name, text }, []);
    // The place of an event that is not found by its write is found by its time.
    await run("unnamed", "UPDATE event SET append_id = NULL WHERE kind = 'MESSAGE_RECEIVED'");
    expect(ofType(await client.until(agentId, "DONE", (await send()).cursor), "Done")).toMatchObject([{ turn: 1 }]);
    // What retention has removed is not asked for.
    await run("floor", "UPDATE tenant_log SET floor = (SELECT max(position) FROM event)");
    for (const ask of [send, create]) {
      const { cursor } = await ask();
      expect((await client.post({ query: `{ timeline(since: "${cursor}") { cursor } }` })).data).toEqual({
        timeline: { cursor },
      });
    }
  });
});
