import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { presets } from "../../../src/triplane.ts";
import { InterruptAgentDocument } from "../../generated/documents.ts";
import { bashApp, callsOf, type MadeCall } from "../../support/bash.ts";
import { followsLinks, hasNoBox } from "../../support/box.ts";
import { ofType } from "../../support/client.ts";
import { ownProgram } from "../../support/tools.ts";

const BOXED = { template: { sandbox: "required" } } as const;

describe.skipIf(hasNoBox)("bash_run of a template that requires a box", () => {
  it("reads and writes the workspace and its HOME, finds node, and sees neither the network nor the server's data", async () => {
    const { app, turn } = await bashApp(
      [
        ["bash_run", { command: "echo made > made.txt; echo kept > ~/kept; node -p '1 + 1'" }],
        ["bash_run", { command: "cat ~/kept made.txt; find . -name outputs; ls /root /home /sys/class/net /proc/self/root/run" }],
        ["bash_run", { command: "exec 3<> /dev/tcp/127.0.0.1/$PORT", env: { PORT: "1" } }],
      ],
      BOXED,
    );
    const [first, second, third] = await turn();
    expect(first?.output).toMatch(/^2\n\[exit code 0/);
    expect(await readFile(join(app.workspace, "made.txt"), "utf8")).toBe("made\n");
    expect(second?.output).toMatch(/^kept\nmade\n/);
    expect(second?.output).not.toContain("outputs");
    expect(second?.details).toMatchObject({ code: 2 });
    expect(third?.output).toContain("Connection refused");
  });

  it("finds files empty that a rule denies or that have secrets, also by another command, and those that a rule names as they are", async () => {
    const permission = { mode: "auto", deny: ["fs_read(path:secrets)"], allow: ["fs_read(path:keys/.env.staging)"] } as const;
    const { app, turn } = await bashApp([["bash_run", { command: "cat $(find . -type f)" }]], {
      template: { sandbox: "required", permission },
    });
    for (const name of ["secrets", "keys"]) await mkdir(join(app.workspace, name));
    for (const name of ["secrets/key", "keys/.env", "keys/.env.staging", "plain.txt"])
      await writeFile(join(app.workspace, name), `in ${name}\n`);
    const [call] = await turn();
    expect(call?.output).toContain("in plain.txt");
    expect(call?.output).toContain("in keys/.env.staging");
    expect(call?.output).not.toMatch(/\.env\n|in secrets/);
  });

  it("says of a covered file that the command names that it is covered, also if a person has allowed the command", async () => {
    const { app, client, agentId } = await bashApp(
      [
        ["bash_run", { command: "cat keys/.env; echo end" }],
        ["bash_run", { command: "cat plain.txt" }],
      ],
      BOXED,
    );
    await mkdir(join(app.workspace, "keys"));
    await writeFile(join(app.workspace, "keys/.env"), "KEY=1\n");
    await writeFile(join(app.workspace, "plain.txt"), "plain\n");
    await client.send(agentId, "go");
    for await (const page of client.timeline({ agentId, since: "0", until: "DONE" }))
      for (const { request } of ofType(page.events, "PermissionRequired"))
        await client.decide({ approvalId: request.approvalId, inputHash: request.inputHash, decision: "ALLOW" });
    const [covered, plain] = await callsOf(client, agentId);
    expect(covered?.output).toMatch(/^end\n\[keys\/\.env is covered in the box: programs see it empty\]\n\[exit code 0/);
    expect(covered?.details["notes"]).toHaveLength(1);
    expect(plain?.details["notes"]).toEqual([]);
  });

  it("says what it took away that a program made at a protected path", async () => {
    const { turn } = await bashApp(
      [["bash_run", { command: "mkdir -p .git/hooks; echo evil > .git/hooks/post-commit; echo > .envrc" }]],
      BOXED,
    );
    const [call] = await turn();
    expect(call?.output).toMatch(/\.envrc/);
    expect(call?.output).toMatch(/\.git\/hooks/);
    expect(call?.details["notes"]).toHaveLength(2);
  });

  it.skipIf(!followsLinks)(
    "says at its timeout what it waited for, and what to install, if bubblewrap follows links at protected paths",
    async () => {
      const holds: MadeCall = ["bash_run", { command: "touch held; sleep 300" }];
      const waits: MadeCall = ["bash_run", { command: "touch ran", timeout_ms: 200 }];
      const { app, client, agentId } = await bashApp([holds, waits, ["bash_run", { command: "true" }]], {
        template: { sandbox: "required", toolTimeoutMs: 60_000 },
      });
      await mkdir(join(app.workspace, ".git/hooks"), { recursive: true });
      await client.send(agentId, "go");
      await expect.poll(() => readFile(join(app.workspace, "held")).catch(() => null)).not.toBeNull();
      const other = await client.createAgent({ toolTimeoutMs: 500 });
      await client.turn(other.id, "go");
      const [own, all] = await callsOf(client, other.id);
      for (const [call, ms] of [
        [own, 200],
        [all, 500],
      ] as const)
        expect(call).toMatchObject({
          state: "FAILED",
          error: {
            type: "TIMEOUT",
            message: expect.stringMatching(
              new RegExp(`did not end within ${ms} ms: it waited to start a program, .*install bubblewrap 0.12 or later`),
            ),
          },
          details: {
            afterMs: ms,
            waitedSince: expect.stringContaining("another program runs in the workspace"),
            recommendations: [expect.stringMatching(/did not run: call again when what its message names has ended/)],
          },
        });
      await expect(readFile(join(app.workspace, "ran"))).rejects.toThrow("ENOENT");
      await client.get(InterruptAgentDocument, { input: { agentId } });
    },
  );

  it("holds for the programs of own tools, too", async () => {
    const { turn } = await bashApp([["lists_homes", {}]], {
      ...BOXED,
      config: { tools: [ownProgram("lists_homes", "ls", ["/root"])] },
    });
    const [call] = await turn();
    expect(call?.output).toContain("No such file");
  });

  it("asks before a tool of files writes a protected path, which programs cannot, also one that the configuration names", async () => {
    const { client, agentId } = await bashApp(
      [
        ["fs_write", { path: ".git/hooks/post-commit", content: "evil" }],
        ["fs_write", { path: "deploy/run.sh", content: "evil" }],
      ],
      { template: { sandbox: "required", permission: presets.workspace }, config: { sandbox: { protect: ["deploy"] } } },
    );
    await client.send(agentId, "go");
    const asked: unknown[] = [];
    for await (const page of client.timeline({ agentId, since: "0", until: "DONE" }))
      for (const { request } of ofType(page.events, "PermissionRequired")) {
        asked.push(request.reason);
        await client.decide({ approvalId: request.approvalId, decision: "DENY" });
      }
    expect(asked).toEqual(Array(2).fill(expect.stringContaining("other programs take the file as orders")));
  });
});
