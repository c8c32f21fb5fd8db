import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { presets } from "../../../src/triplane.ts";
import { AllowAlwaysDocument } from "../../generated/documents.ts";
import { bashApp } from "../../support/bash.ts";
import { hasNoBox } from "../../support/box.ts";
import { ofType } from "../../support/client.ts";
import { committed, git } from "../../support/repository.ts";

describe.skipIf(hasNoBox)("git in a box, in a repository that tracks covered files", () => {
  it.each([["presets.workspace", presets.workspace] as const, ["mode auto", { mode: "auto" }] as const])(
    "records none as empty without a question, with %s",
    async (_name, permission) => {
      const commit = "git -c user.name=E -c user.email=e@example.org commit -q";
      const { app, client, agentId } = await bashApp(
        [
          ["bash_run", { command: `echo more >> src/a.ts; ${commit} -am all` }],
          ["bash_run", { command: `git add -A && ${commit} -m all` }],
          ["bash_run", { command: "git stash" }],
          ["bash_run", { command: `echo more >> src/a.ts; git add src/a.ts && ${commit} -m named` }],
        ],
        { template: { sandbox: "required", permission: { ...permission, deny: ["fs_read(path:/secrets)"] } } },
      );
      for (const folder of ["src", "secrets"]) await mkdir(join(app.workspace, folder));
      await committed(app.workspace, { ".npmrc": "token\n", "secrets/s.txt": "secret\n", "src/a.ts": "a\n" });
      // The folder of a server's own files lies in the workspace of a test.
      await writeFile(join(app.workspace, ".git/info/exclude"), ".data\n");
      await client.send(agentId, "go");
      const reasons: unknown[] = [];
      for await (const page of client.timeline({ agentId, since: "0", until: "DONE" }))
        for (const { request } of ofType(page.events, "PermissionRequired")) {
          reasons.push(request.reason);
          await client.decide({ approvalId: request.approvalId, decision: "DENY" });
        }
      expect(reasons).toHaveLength(4);
      for (const reason of reasons) expect(reason).toContain(".npmrc is covered in the box, and git could record it as empty");
      const { toolCalls } = await client.agent(agentId);
      expect(toolCalls.nodes.map(({ state }) => state)).toEqual(["DENIED", "DENIED", "DENIED", "DENIED"]);
      expect(git(app.workspace, "log", "--format=%s")).toBe("first\n");
      expect(git(app.workspace, "status", "--short")).toBe("");
    },
  );

  it("asks no more, in mode auto, for a file that a rule which people have stored uncovers, however the line writes git", async () => {
    const commit = "-c user.name=E -c user.email=e@example.org commit -q";
    const { app, client, agentId } = await bashApp(
      [
        ["bash_run", { command: `echo more >> src/a.ts; git ${commit} -am asked` }],
        ["fs_read", { path: ".npmrc" }],
        ["bash_run", { command: `echo more >> src/a.ts; git ${commit} -am first` }],
        ["bash_run", { command: `echo more >> src/a.ts; g"i"t ${commit} -am second` }],
      ],
      { template: { sandbox: "required", permission: { mode: "auto" } } },
    );
    await mkdir(join(app.workspace, "src"));
    await committed(app.workspace, { ".npmrc": "token\n", "src/a.ts": "a\n" });
    await writeFile(join(app.workspace, ".git/info/exclude"), ".data\n");
    await client.send(agentId, "go");
    const asked: unknown[] = [];
    for await (const page of client.timeline({ agentId, since: "0", until: "DONE" }))
      for (const { request } of ofType(page.events, "PermissionRequired")) {
        asked.push(request.call?.name);
        const { approvalId, inputHash } = request;
        if (request.call?.name !== "fs_read") await client.decide({ approvalId, decision: "DENY" });
        else {
          const { allowAlways } = await client.get(AllowAlwaysDocument, { input: { approvalId } });
          expect(allowAlways.userErrors).toEqual([]);
          await client.decide({ approvalId, decision: "ALLOW", inputHash });
        }
      }
    expect(asked).toEqual(["bash_run", "fs_read"]);
    expect(git(app.workspace, "log", "--format=%s")).toBe("second\nfirst\nfirst\n");
    expect(git(app.workspace, "show", "HEAD:.npmrc")).toBe("token\n");
  });
});
