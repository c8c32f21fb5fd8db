import { describe, expect, it } from "vitest";
import { DecideApprovalDocument, PollTimelineDocument, SendMessageDocument } from "../generated/documents.ts";
import { globalId } from "../../src/lib/global-id.ts";
import { startTestApp } from "../support/app.ts";
import { connect, textOf } from "../support/client.ts";
import { administer } from "../support/database.ts";

describe("a database that is away", () => {
  it("is STORAGE_UNAVAILABLE to every operation, and the server lives on", async () => {
    const app = await startTestApp();
    const client = connect(app.url);
    const agent = await client.createAgent();
    const name = new URL((app.database.config as { url: string }).url).pathname.slice(1);
    await administer(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS false`);
    await administer(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
    const answers = await Promise.all([
      client.ask(SendMessageDocument, { input: { agentId: agent.id, text: "hi" } }),
      client.ask(PollTimelineDocument, {}),
      client.ask(DecideApprovalDocument, {
        input: { approvalId: globalId("Approval", "11111111-1111-4111-8111-111111111111"), decision: "DENY" },
      }),
    ]);
    for (const answer of answers) expect(answer.errors).toMatchObject([{ extensions: { code: "STORAGE_UNAVAILABLE" } }]);
    await administer(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS true`);
    // The server asks now and then, and refuses until then.
    await expect.poll(async () => (await fetch(app.url.replace("/graphql", "/readyz"))).status).toBe(200);
    expect(textOf(await client.turn(agent.id, "hello"))).toBe("Hello.");
  });
});
