import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { AgentsDocument, ApprovalsDocument, CreateAgentDocument } from "../generated/documents.ts";
import { temporaryFolder } from "../support/app.ts";
import { connect, ofType, textOf } from "../support/client.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { runFile } from "../support/process.ts";
import { startServerProcess } from "../support/server-process.ts";

/** A local server that is told of approvals: the types of what came. */
async function inbox(): Promise<{ readonly url: string; readonly types: string[] }> {
  const types: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    types.push((JSON.parse(Buffer.concat(chunks).toString()) as { type: string }).type);
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, types };
}

it("the example of a team starts as it is: its tool, its rules, its actors, its webhook (docs/configuration.md)", async () => {
  const folder = await temporaryFolder();
  await cp(fileURLToPath(new URL("../../examples/team", import.meta.url)), folder, { recursive: true });
  const { url: target, types } = await inbox();
  const { url, says } = await startServerProcess({
    DATABASE_URL: await testDatabaseUrl(),
    TRIPLANE_DATA_DIR: join(folder, "data"),
    TRIPLANE_CONFIG: join(folder, "triplane.config.ts"),
    INBOX_URL: target,
    INBOX_SECRET: `whsec_${Buffer.alloc(32, 7).toString("base64")}`,
  });
  await says("npm run chat -- --url " + url + " --token TOKEN");
  const [anna, petra, mona] = ["anna", "petra", "mona"].map((token) => connect(url, token));
  if (!anna || !petra || !mona) throw new Error("three clients connect");

  const agent = await anna.createAgent({ templateId: "writer" });
  expect(textOf(await anna.turn(agent.id, "count the words of notes.md"))).toBe("notes.md has 7 words.");
  await anna.turn(agent.id, "write drafts/a.md");
  await anna.send(agent.id, "write plan.md");
  const [required] = ofType(await petra.until(agent.id, "PERMISSION_REQUIRED"), "PermissionRequired");
  const { approvalId = "", inputHash = "" } = required?.request ?? {};
  await petra.decide({ approvalId, inputHash, decision: "ALLOW" });
  await expect.poll(() => types).toEqual(["PERMISSION_REQUIRED", "PERMISSION_DECIDED"]);
  expect((await mona.get(AgentsDocument, {})).agents.nodes).toMatchObject([{ createdBy: { name: "Anna" } }]);
  const { createAgent } = await mona.get(CreateAgentDocument, { input: { templateId: "writer" } });
  expect(createAgent.userErrors).toMatchObject([{ code: "FORBIDDEN" }]);

  const demo = runFile("examples/demo/demo.ts", [
    `--url=${url}`,
    "--token=anna",
    `--workspace=${join(folder, "workspace")}`,
    "--message=count the words of notes.md",
    "--yes",
  ]);
  expect(await demo.exited, demo.output()).toBe(0);
  expect(demo.output()).toContain("notes.md has 7 words.");

  // Who may not decide is told so and not asked, and the turn goes on when somebody else has decided.
  const workspace = join(folder, "workspace");
  const waiting = [
    runFile("examples/demo/demo.ts", [
      `--url=${url}`,
      "--token=anna",
      `--workspace=${workspace}`,
      "--message=write a.md",
      "--yes",
    ]),
    runFile("examples/chat/chat.ts", ["--url", url, "--token", "anna", "--workspace", workspace]),
  ];
  waiting[1]?.child.stdin?.end("write b.md\n");
  for (const process of waiting) await process.says("fs_write waits for somebody else to decide");
  for (const { id, inputHash } of (await petra.get(ApprovalsDocument, { filter: { states: ["PENDING"] } })).approvals.nodes)
    await petra.decide({ approvalId: id, inputHash, decision: "ALLOW" });
  for (const process of waiting) {
    expect(await process.exited, process.output()).toBe(0);
    expect(process.output()).toContain("You may not: NO_ROLE");
    expect(process.output()).not.toContain("May fs_write run?");
  }
}, 60_000);
