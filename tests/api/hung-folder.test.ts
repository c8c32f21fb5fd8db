import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startTestApp, temporaryFolder } from "../support/app.ts";
import { connect, ofType, textOf } from "../support/client.ts";
import { CAN_MOUNT, hungFolder } from "../support/hung-folder.ts";
import { callsWith, playedModel, says } from "../support/models.ts";
import type { ModelRequest } from "../../src/agent/models/model.ts";

/** Reads a file once a turn. */
const reads = (request: ModelRequest) =>
  request.messages.at(-1)?.content.some(({ type }) => type === "tool_result") === true
    ? says("I have read it.")
    : callsWith(["fs_read", { path: "a.txt" }]);

it.skipIf(!CAN_MOUNT)(
  "an agent whose file system hangs waits alone, and says so; it goes on when it answers (invariant 13)",
  async () => {
    const root = await temporaryFolder();
    const well = join(root, "well");
    await mkdir(well);
    const hung = await hungFolder(root);
    const app = await startTestApp({
      model: playedModel(...Array.from({ length: 20 }, () => reads)),
      template: { permission: { mode: "auto" } },
      config: { workspaceRoots: [root], defaultWorkspace: well },
      expectsErrors: true,
    });
    const client = connect(app.url);
    const stuck = await client.createAgent();
    // As if the file system had begun to hang after the agent was made.
    const row = Buffer.from(stuck.id, "base64").toString().slice("Agent:".length);
    await app.database.sql.query({ name: "move", text: "UPDATE agent SET workspace = $2 WHERE id = $1" }, [row, hung.folder]);
    await client.send(stuck.id, "read");
    const told = await client.until(stuck.id, "ERROR");
    expect(ofType(told, "ErrorRaised").at(-1)).toMatchObject({ severity: "WARN", detail: "folder_hung" });
    const { data } = await client.post<{ agent: { waitingFor: string } }>({
      query: `{ agent(id: "${stuck.id}") { waitingFor } }`,
    });
    expect(data?.agent.waitingFor).toBe("the file system of its folder to answer");
    // Others do not notice.
    const other = await client.createAgent();
    expect(textOf(await client.turn(other.id, "read"))).toContain("I have read it.");
    const metrics = await (await fetch(app.url.replace("/graphql", "/metrics"))).text();
    expect(metrics).toContain("triplane_hung_file_systems 1");
    // A person who asks what it may do is told.
    const explained = await client.post<{ explainPermission: { userErrors: { message: string }[] } }>({
      query: `{ explainPermission(agentId: "${stuck.id}", tool: "fs_read", input: { path: "a.txt" }) { problems { message } } }`,
    });
    expect(JSON.stringify(explained)).toContain("does not answer");
    await hung.end();
    const done = await client.until(stuck.id, "DONE");
    expect(ofType(done, "ToolEnd").map(({ call }) => call.state)).toEqual(["DENIED"]);
    expect(ofType(done, "Done").at(-1)).toMatchObject({ reason: "COMPLETED" });
  },
);
