import { describe, expect, it } from "vitest";
import { DecideApprovalDocument, PollTimelineDocument, SendMessageDocument } from "../generated/documents.ts";
import { globalId } from "../../src/lib/global-id.ts";
import { tokenActor } from "../support/actors.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { connect, textOf } from "../support/client.ts";
import { administer } from "../support/database.ts";

/** Lets nobody connect to the server's database, and cuts who is connected. Answers the end of it, once the server is ready. */
async function takeAway({ database, url }: TestApp): Promise<() => Promise<void>> {
  // A log that has begun has its configuration recorded behind the request.
  const unrecorded = "SELECT FROM tenant_log l WHERE NOT EXISTS (SELECT FROM known_configuration k WHERE k.tenant = l.tenant)";
  await expect.poll(async () => (await database.sql.query({ name: "", text: unrecorded }, [])).length).toBe(0);
  const name = new URL((database.config as { url: string }).url).pathname.slice(1);
  await administer(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS false`);
  await administer(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
  return async () => {
    await administer(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS true`);
    // The server asks now and then, and refuses until then.
    await expect.poll(async () => (await fetch(url.replace("/graphql", "/readyz"))).status).toBe(200);
  };
}

describe("a database that is away", () => {
  it("is STORAGE_UNAVAILABLE to every operation, and the server lives on", async () => {
    const app = await startTestApp();
    const client = connect(app.url);
    const agent = await client.createAgent();
    const giveBack = await takeAway(app);
    const answers = await Promise.all([
      client.ask(SendMessageDocument, { input: { agentId: agent.id, text: "hi" } }),
      client.ask(PollTimelineDocument, {}),
      client.ask(DecideApprovalDocument, {
        input: { approvalId: globalId("Approval", "11111111-1111-4111-8111-111111111111"), decision: "DENY" },
      }),
    ]);
    for (const answer of answers) expect(answer.errors).toMatchObject([{ extensions: { code: "STORAGE_UNAVAILABLE" } }]);
    await giveBack();
    expect(textOf(await client.turn(agent.id, "hello"))).toBe("Hello.");
  });

  it("ends the operations of somebody whose delegations it must say, not the socket on which they are asked", async () => {
    const anna = tokenActor("anna", ["user"]);
    const app = await startTestApp({ config: { actors: [anna.actor] } });
    const client = connect(app.url, anna.token);
    // The stream shares the socket with what follows: it would end with the socket.
    const stream = client.iterate("subscription { monitor { caughtUp events { kind } } }");
    await stream.next();
    const news = stream.next();
    const giveBack = await takeAway(app);
    for (const operation of ["{ viewer { tenant } }", "subscription { monitor { caughtUp } }"])
      await expect(client.iterate(operation).next()).rejects.toMatchObject([{ extensions: { code: "STORAGE_UNAVAILABLE" } }]);
    await giveBack();
    expect((await client.iterate("{ viewer { tenant } }").next()).value).toEqual({ data: { viewer: { tenant: "acme" } } });
    await client.createAgent();
    expect((await news).done).toBe(false);
  });
});
