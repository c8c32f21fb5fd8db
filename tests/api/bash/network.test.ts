import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ArchiveAgentDocument } from "../../generated/documents.ts";
import { bashApp } from "../../support/bash.ts";
import { hasNoBox } from "../../support/box.ts";
import { ofType, type TestClient } from "../../support/client.ts";

/** A command that asks the proxy for a page, and says what it answers. */
const fetches = (host: string): string =>
  `node -e "require('http').get({ host: '127.0.0.1', port: 3128, path: 'http://${host}/' }, (r) => { r.on('data', (d) => console.log(r.statusCode + ' ' + d)) })"`;

const BOXED = (hosts: string[] | null) =>
  ({ template: { sandbox: "required" }, config: hosts === null ? {} : { sandbox: { hosts } } }) as const;

/** Follows a turn, and answers each question about a host. */
async function answering(client: TestClient, agentId: string, decision: "ALLOW" | "DENY") {
  const asked = [];
  await client.send(agentId, "go");
  for await (const page of client.timeline({ agentId, since: "0", until: "DONE" }))
    for (const { request } of ofType(page.events, "PermissionRequired")) {
      asked.push(request);
      const { approvalId, inputHash } = request;
      expect((await client.decide({ approvalId, decision, inputHash })).userErrors).toEqual([]);
    }
  return asked;
}

describe.skipIf(hasNoBox)("the network of a box", () => {
  it("asks a person for a host that nobody named, and lets the next call reach the host that was allowed", async () => {
    const { client, agentId } = await bashApp(
      [
        ["bash_run", { command: fetches("first.invalid") }],
        ["bash_run", { command: fetches("first.invalid") }],
      ],
      BOXED([]),
    );
    expect(await answering(client, agentId, "ALLOW")).toMatchObject([{ kind: "NETWORK_HOST" }]);
    const { toolCalls, messages } = await client.agent(agentId);
    expect(toolCalls.nodes[0]?.output).toContain("403 first.invalid:80 is not among the hosts");
    // The name has no address: the proxy tried it.
    expect(toolCalls.nodes[1]?.output).toContain("502 first.invalid has no address");
    expect(JSON.stringify(messages.nodes)).toContain("first.invalid");
  });

  it("is told of a denial, asks for no host that the configuration names, nor for private addresses", async () => {
    const { client, agentId } = await bashApp(
      [
        ["bash_run", { command: fetches("second.invalid") }],
        ["bash_run", { command: `${fetches("named.invalid")}; ${fetches("169.254.169.254")}` }],
      ],
      BOXED(["named.invalid"]),
    );
    expect(await answering(client, agentId, "DENY")).toMatchObject([{ kind: "NETWORK_HOST" }]);
    const { toolCalls } = await client.agent(agentId);
    expect(toolCalls.nodes[1]?.output).toContain("502 named.invalid has no address");
    expect(toolCalls.nodes[1]?.output).toContain("403 169.254.169.254:80 leads into a private network");
  });

  it("of a program in the background asks while the program runs, and nothing waits", async () => {
    const call = ["bash_run", { command: `${fetches("third.invalid")}; sleep 60`, background: true }] as const;
    const { app, client } = await bashApp([call], BOXED([]));
    // Nothing in it is covered, which a bubblewrap below 0.12 does not do beside a program in the background.
    const workspace = join(app.workspace, "of its own");
    await mkdir(workspace);
    const { id: agentId } = await client.createAgent({ workspace });
    await client.turn(agentId, "go");
    const events = await client.until(agentId, "PERMISSION_REQUIRED");
    expect(ofType(events, "PermissionRequired")).toMatchObject([{ request: { kind: "NETWORK_HOST" } }]);
    // An archived agent's programs end, and their questions with them.
    expect((await client.agent(agentId)).pendingApprovals).toHaveLength(1);
    await client.get(ArchiveAgentDocument, { input: { agentId } });
    await client.until(agentId, "PERMISSION_CLOSED");
    expect((await client.agent(agentId)).pendingApprovals).toEqual([]);
  });

  it("is none if the configuration names no hosts: nobody is asked", async () => {
    const { client, agentId } = await bashApp([["bash_run", { command: fetches("first.invalid") }]], BOXED(null));
    expect(ofType(await client.turn(agentId, "go"), "PermissionRequired")).toEqual([]);
    expect((await client.agent(agentId)).toolCalls.nodes[0]?.output).toContain("ECONNREFUSED");
  });
});
