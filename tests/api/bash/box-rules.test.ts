import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startTestApp } from "../../support/app.ts";
import { hasNoBox } from "../../support/box.ts";
import { connect } from "../../support/client.ts";

const script = (command: string) => ({
  replies: [
    { when: { user: "go" }, call: [{ tool: "bash_run", input: { command } }] },
    { when: {}, say: ["Done."] },
  ],
});

describe.skipIf(hasNoBox)("bash_run of a template that requires a box", () => {
  it("runs in one: without the server, without denied files and files with secrets, and says what was taken away", async () => {
    // In a file, since the gate asks or denies by itself what it sees of this in a command line.
    const commands = "cat .env private/a open.pem; mkdir .husky; echo $HOME > home; touch made";
    const app = await startTestApp({
      template: {
        sandbox: "required",
        permission: { mode: "auto", deny: ["fs_read(path:/private)"], allow: ["fs_read(path:open.pem)"] },
      },
      script: script("sh ./commands"),
    });
    await writeFile(join(app.workspace, "commands"), commands);
    await mkdir(join(app.workspace, "private"));
    for (const file of [".env", "private/a"]) await writeFile(join(app.workspace, file), "CANARY");
    await writeFile(join(app.workspace, "open.pem"), "open\n");
    const client = connect(app.url);
    const agent = await client.createAgent({ workspace: app.workspace });
    await client.turn(agent.id, "go");
    const [call] = (await client.agent(agent.id)).toolCalls.nodes;
    expect(call?.state).toBe("COMPLETED");
    expect(call?.output).toContain("open\n");
    expect(call?.output).toContain("[.husky was taken away: programs of a box may not make it");
    expect(call?.output).not.toContain("CANARY");
    const left = (await readdir(app.workspace)).filter((name) => name !== ".data");
    expect(left.toSorted()).toEqual([".env", "commands", "home", "made", "open.pem", "private"]);
  });

  it("reaches no host that a rule denies, whatever the configuration names, and is told which", async () => {
    const command = "exec 3<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT evil.example:443 HTTP/1.1\\r\\n\\r\\n' >&3; head -1 <&3";
    const app = await startTestApp({
      template: { sandbox: "required", permission: { mode: "auto", deny: ["network(host:evil.example)"] } },
      config: { sandbox: { hosts: ["evil.example"] } },
      script: script(command),
    });
    const client = connect(app.url);
    const agent = await client.createAgent({ workspace: app.workspace });
    await client.turn(agent.id, "go");
    const [call] = (await client.agent(agent.id)).toolCalls.nodes;
    expect(call?.output).toContain("HTTP/1.1 403 Forbidden: evil.example:443 is not among the hosts");
    expect(call?.output).toContain("[evil.example:443 is not among the hosts that programs of this agent may reach");
  });
});
