import { describe, expect, it } from "vitest";
import { foldAll } from "../support/audit.ts";
import { ToolCallGroupsDocument, ToolCallsDocument, ToolCallStatsDocument, type ToolCallFilter } from "../generated/documents.ts";
import { bashApp } from "../support/bash.ts";
import type { TestClient } from "../support/client.ts";
import { REACH } from "../support/hosts.ts";

const HOSTS = "named.example:443 other.example:8443 other.example:443";

async function exitCodes(client: TestClient) {
  const { groups } = (await client.get(ToolCallGroupsDocument, { by: ["TOOL", "EXIT_CODE"] })).toolCallGroups;
  return groups.map(({ tool, exitCode, figures }) => `${tool} ${exitCode} ${figures.calls}`).toSorted();
}

async function counted(client: TestClient, filter: ToolCallFilter): Promise<readonly string[]> {
  const { toolCallStats } = await client.get(ToolCallStatsDocument, { filter });
  return toolCallStats.tools.map(({ tool, calls }) => `${tool} ${calls}`);
}

describe.each([{ isFolded: true }, { isFolded: false }])("the audit of calls, folded: $isFolded", ({ isFolded }) => {
  it("has the exit codes of shell calls, the hosts that calls asked to reach, and the models that made them", async () => {
    const { app, client, turn } = await bashApp(
      [
        ["bash_run", { command: "true" }],
        ["bash_run", { command: "exit 3" }],
        ["bash_run", { command: "kill -9 $$" }],
        ["bash_run", { command: "sleep 60", background: true }],
        ["fs_read", { path: "missing" }],
        ["reach", { hosts: HOSTS }],
      ],
      { config: { tools: [REACH], sandbox: { hosts: ["named.example", "other.example:*"] } } },
    );
    await turn();
    if (isFolded) await foldAll(app.database.sql);
    else await app.database.sql.query({ name: "", text: "UPDATE audit_fold SET whole_at = NULL" }, []);
    expect(await exitCodes(client)).toEqual([
      "bash_run 0 1",
      "bash_run 3 1",
      "bash_run null 2",
      "fs_read null 1",
      "reach null 1",
    ]);
    const { groups } = (await client.get(ToolCallGroupsDocument, { by: ["HOST", "MODEL"] })).toolCallGroups;
    expect(groups.map(({ host, model, figures }) => [host, model, figures.calls])).toEqual([
      [null, "played by the test", 5],
      ["named.example", "played by the test", 1],
      ["other.example", "played by the test", 1],
    ]);
    expect(await counted(client, { exitCodes: [0, 3] })).toEqual(["bash_run 2"]);
    expect(await counted(client, { hosts: ["other.example", "nowhere.example"] })).toEqual(["reach 1"]);
    expect(await counted(client, { hosts: ["nowhere.example"] })).toEqual([]);
    expect(await counted(client, { models: ["no other", "played by the test"], tools: ["reach"] })).toEqual(["reach 1"]);
    expect(await counted(client, { models: ["no other"] })).toEqual([]);
    const listed = async (models: string[]) => {
      const { toolCalls } = await client.get(ToolCallsDocument, { filter: { models } });
      return toolCalls.nodes.length;
    };
    expect([await listed(["played by the test"]), await listed(["no other"])]).toEqual([6, 0]);
  });
});
