import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { InterruptAgentDocument, KeptOutputsDocument } from "../../generated/documents.ts";
import { isAlive } from "../../support/alive.ts";
import { bashApp, callsOf, makes } from "../../support/bash.ts";
import { connect, ofType, type TestClient } from "../../support/client.ts";

describe("bash_run", () => {
  it("answers what the command said on both streams in its order, with its exit code: one that is not 0 is COMPLETED", async () => {
    const { app, turn } = await bashApp([
      ["bash_run", { command: "echo one; echo two >&2; echo three; exit 3" }],
      ["bash_run", { command: "pwd; cat", cwd: "docs" }],
      ["bash_run", { command: "kill -TERM $$" }],
      ["bash_run", { command: "true" }],
    ]);
    await mkdir(join(app.workspace, "docs"));
    const calls = await turn();
    expect(calls.map(({ state, isError }) => `${state} ${isError}`)).toEqual(calls.map(() => "COMPLETED false"));
    expect(calls).toHaveLength(4);
    expect(calls[0]?.output).toMatch(/^one\ntwo\nthree\n\[exit code 3, \d+ ms\]$/);
    expect(calls[0]?.details).toMatchObject({
      background: false,
      code: 3,
      signal: null,
      output: "one\ntwo\nthree\n",
      outputBytes: 14,
    });
    expect(calls[0]?.details["durationMs"]).toBeGreaterThan(0);
    expect(calls[1]?.output).toMatch(new RegExp(`^${app.workspace}/docs\n\\[exit code 0, \\d+ ms\\]$`));
    expect(calls[2]?.details).toMatchObject({ code: null, signal: "SIGTERM" });
    expect(calls[2]?.output).toMatch(/^\[no output, ended by SIGTERM, \d+ ms\]$/);
    expect(calls[3]?.output).toMatch(/^\[no output, exit code 0, \d+ ms\]$/);
  });

  it("says of bytes that are no UTF-8 that they are shown as another character, and of those that are nothing", async () => {
    const { turn } = await bashApp([
      ["bash_run", { command: "printf 'caf\\xe9 ok\\n'" }],
      ["bash_run", { command: "printf 'caf\\xc3\\xa9 \\xef\\xbf\\xbd\\n'" }],
    ]);
    const [bytes, text] = await turn();
    expect(bytes?.output).toContain("caf\uFFFD ok\n");
    expect(bytes?.output).toContain("bytes of the output that are no UTF-8 are shown as \uFFFD");
    expect(text?.output).toContain("café \uFFFD\n");
    expect(text?.output).not.toContain("no UTF-8");
  });

  it("has a TMPDIR of its own, which is removed with what it left there, also if it was stopped", async () => {
    const leaves = 'echo "$TMPDIR" >> folders; mkdir "$TMPDIR/a"; echo x > "$TMPDIR/a/b"; mktemp; ls "$TMPDIR" | wc -l';
    const { app, turn } = await bashApp([
      ["bash_run", { command: leaves }],
      ["bash_run", { command: `${leaves}; exit 3` }],
      ["bash_run", { command: `${leaves}; sleep 60`, timeout_ms: 1_500 }],
    ]);
    const calls = await turn();
    expect(calls.map(({ state }) => state)).toEqual(["COMPLETED", "COMPLETED", "FAILED"]);
    expect(calls[0]?.output).toMatch(/\n2\n/);
    const folders = (await readFile(join(app.workspace, "folders"), "utf8")).trim().split("\n");
    expect(new Set(folders).size).toBe(3);
    await expect.poll(() => folders.filter((folder) => existsSync(folder))).toEqual([]);
  });

  it("has no variable of the server's but the plain ones, those that the call names, and a HOME of the agent's own (invariant 11)", async () => {
    vi.stubEnv("TEST_API_KEY", "secret");
    vi.stubEnv("BASH_ENV", "/nowhere/start.sh");
    vi.stubEnv("PATH", `/nowhere/node_modules/.bin:/nowhere/node-gyp-bin:${process.env["PATH"]}`);
    const command = 'env; echo "kept" >> "$HOME/kept"; cat "$HOME/kept"; stat -c "mode %a" "$HOME"';
    const { app, turn } = await bashApp([
      ["bash_run", { command, env: { GREETING: "hello $USER", LANG: "C" } }],
      ["bash_run", { command }],
    ]);
    const [first, second] = await turn();
    const names = (first?.output ?? "").match(/^[A-Za-z_][A-Za-z_0-9]*(?==)/gm)?.toSorted();
    expect(names).toEqual(expect.arrayContaining(["GREETING", "HOME", "LANG", "PATH"]));
    const plain = new Set(["GREETING", "HOME", "LANG", "OLDPWD", "PATH", "PWD", "SHLVL", "TMPDIR", "TZ", "_"]);
    expect(names?.filter((name) => !plain.has(name) && !name.startsWith("GIT_CONFIG_"))).toEqual([]);
    expect(first?.output).not.toContain("/nowhere");
    expect(first?.output).toContain("GREETING=hello $USER\n");
    expect(first?.output).toContain("LANG=C\n");
    expect(first?.output).toContain("mode 700\n");
    expect(second?.output).toContain("kept\nkept\n");
    expect(second?.output).not.toContain("GREETING");
    const home = /^HOME=(.*)$/m.exec(first?.output ?? "")?.[1] ?? "";
    expect(home.startsWith(join(app.workspace, ".data", "homes"))).toBe(true);
    expect((await stat(home)).mode & 0o777).toBe(0o700);
  });

  it("lets git take no folder for a bare repository, whose configuration could name programs", async () => {
    const fake = "mkdir -p evil/objects evil/refs; echo ref: refs/heads/main > evil/HEAD";
    const config = "printf '[core]\\n\\tbare = false\\n\\tworktree = ..\\n\\tfsmonitor = touch ../ran; false\\n' > evil/config";
    const { app, turn } = await bashApp([["bash_run", { command: `${fake}; ${config}; cd evil && git status` }]]);
    const [call] = await turn();
    expect(call?.output).toMatch(/cannot use bare repository/);
    expect(await readdir(app.workspace)).not.toContain("ran");
  });

  it("lets git write names as they are, so that they can be used as input again", async () => {
    const make = "git init -q . && echo x > café.txt && echo y > '日本 語.txt' && git add . && git status --short";
    const { turn } = await bashApp([["bash_run", { command: `${make} && git diff --cached --name-only` }]]);
    const [call] = await turn();
    expect(call?.output).toContain("A  café.txt\n");
    expect(call?.output).toContain("\n日本 語.txt\n");
  });

  it.each([
    [
      "a folder that is not there",
      { command: "pwd", cwd: "nowhere" },
      "EXECUTION_FAILED",
      /^The tool failed: nowhere does not exist$/,
    ],
    ["a folder that is a file", { command: "pwd", cwd: "file" }, "EXECUTION_FAILED", /failed: file is no folder/],
    ["a folder outside of the workspace", { command: "pwd", cwd: ".." }, "PERMISSION_DENIED", /outside of the workspace/],
    [
      "a variable with a wrong name",
      { command: "env", env: { "A-B": "c" } },
      "INVALID_PARAMS",
      /again:\n- \/env: the name "A-B" must match pattern "[^\n]*"; received "A-B"$/,
    ],
    ["a value that is no text", { command: "env", env: { A: 7 } }, "INVALID_PARAMS", /env\/A: must be string/],
    ["no command", { command: "" }, "INVALID_PARAMS", /command: must not be empty/],
    ["a command that is too long", { command: "x".repeat(40_000) }, "INVALID_PARAMS", /command/],
  ])("refuses %s", async (_name, input, type, message) => {
    const { app, turn } = await bashApp([["bash_run", input]]);
    await writeFile(join(app.workspace, "file"), "");
    const [call] = await turn();
    expect(call?.error?.type).toBe(type);
    expect(call?.output).toMatch(message);
    expect(call?.output).not.toContain(app.workspace);
  });

  it.each([
    ["its own time", { timeout_ms: 1_500 }, {}, "did not end within 1500 ms"],
    ["the time that the agent's calls have", {}, { toolTimeoutMs: 1_500 }, "did not end within 1500 ms"],
  ])(
    "is FAILED with timeout after %s: the whole group ends, and what was said until then is in the failure",
    async (_name, more, template, message) => {
      const command = "sleep 300 & echo $! $$ | tee pids; echo so far; sleep 300";
      const { app, turn } = await bashApp([["bash_run", { command, ...more }]], { template });
      const [call] = await turn();
      expect(call).toMatchObject({ state: "FAILED", error: { type: "TIMEOUT", stage: "EXECUTION" } });
      expect(call?.output).toContain(message);
      expect(call?.output).toMatch(/Its output until then:\n\d+ \d+\nso far\n$/);
      expect(call?.details).toMatchObject({ afterMs: 1_500, output: expect.stringContaining("so far") });
      expect(call?.error?.message).not.toContain("so far");
      const pids = (await readFile(join(app.workspace, "pids"), "utf8")).trim().split(" ").map(Number);
      await expect.poll(() => pids.filter(isAlive)).toEqual([]);
      expect(app.services.groups.size).toBe(0);
    },
  );

  it("ends as a group when the turn is interrupted, and what was said until then is in the failure", async () => {
    const command = "sleep 300 & echo $! $$ > pids; echo so far; touch begun; sleep 300";
    const { app, client, agentId } = await bashApp([["bash_run", { command }]]);
    await client.send(agentId, "go");
    await expect.poll(() => stat(join(app.workspace, "begun")).catch(() => null)).not.toBeNull();
    await client.get(InterruptAgentDocument, { input: { agentId, note: "enough" } });
    await client.until(agentId, "DONE");
    const [call] = await callsOf(client, agentId);
    expect(call).toMatchObject({ state: "FAILED", error: { type: "ABORTED" } });
    expect(call?.output).toMatch(/enough[^]*Its output until then:\nso far\n$/);
    const pids = (await readFile(join(app.workspace, "pids"), "utf8")).trim().split(" ").map(Number);
    await expect.poll(() => pids.filter(isAlive)).toEqual([]);
  });

  it("does not wait for what the command left behind, in its group or out of it", async () => {
    const { turn } = await bashApp([
      ["bash_run", { command: "sleep 300 & echo $!" }],
      [
        "bash_run",
        { command: "setsid sh -c 'echo $$ > left; exec sleep 300' & until [ -s left ]; do sleep 0.05; done; cat left" },
      ],
    ]);
    const calls = await turn();
    expect(calls.map(({ state }) => state)).toEqual(["COMPLETED", "COMPLETED"]);
    const [inside = 0, outside = 0] = calls.map(({ output }) => Number(output?.split("\n")[0]));
    await expect.poll(() => isAlive(inside)).toBe(false);
    expect(isAlive(outside)).toBe(true);
    process.kill(outside, "SIGKILL");
  });

  it("of long output the model reads head and tail, and the whole is kept, to the byte", async () => {
    const { client, agentId, turn } = await bashApp([["bash_run", { command: "seq 1 30000" }]]);
    const [call] = await turn();
    const lines = call?.output?.split("\n") ?? [];
    expect(lines.length).toBeLessThanOrEqual(2_000);
    expect(Buffer.byteLength(call?.output ?? "")).toBeLessThanOrEqual(50 * 1024);
    expect(lines.slice(0, 2)).toEqual(["1", "2"]);
    expect(lines.at(-2)).toBe("30000");
    const whole = Array.from({ length: 30_000 }, (_, index) => `${index + 1}\n`).join("");
    expect(call?.output).toMatch(new RegExp(`\\n\\[… \\d+ of ${whole.length} bytes are left out here …\\]\\n`));
    let kept = "";
    for (let offset: number | null = 0; offset !== null;) {
      const output = await keptOutput(client, agentId, offset, 65_536);
      expect(output?.bytes).toBe(whole.length);
      kept += output?.piece?.text ?? "";
      offset = output?.piece?.nextOffset ?? null;
    }
    expect(kept).toBe(whole);
  });

  it("of a command that is stopped while it talks, the whole until then is kept", async () => {
    const made = Array.from({ length: 3 }, () => ["bash_run", { command: "yes abcdefghijkl", timeout_ms: 2_000 }] as const);
    const { app, client, agentId } = await bashApp(made);
    const events = await client.turn(agentId, "go");
    expect(ofType(events, "ErrorRaised").map(({ detail }) => detail)).toEqual(made.map(() => "timeout"));
    const { toolCalls } = await client.get(KeptOutputsDocument, { agentId, offset: 0, bytes: 13 });
    expect(toolCalls.nodes.map(({ keptOutput: kept }) => kept?.piece?.text)).toEqual(made.map(() => "abcdefghijkl\n"));
    expect((await readdir(join(app.workspace, ".data/outputs"))).filter((name) => name.endsWith(".parts"))).toEqual([]);
  });

  it("of output that has no text as much is kept, also if its bytes alone would fit", async () => {
    const command = "echo begins; head -c 30000 /dev/zero; echo ends";
    const { client, agentId, turn } = await bashApp([["bash_run", { command }]]);
    const [call] = await turn();
    expect(call?.output).toMatch(/^begins\n␀*\n\[… \d+ of 30012 bytes are left out here …\]\n␀*ends\n\[exit code 0/);
    expect(await keptOutput(client, agentId, 0, 10)).toMatchObject({ bytes: 30_012 });
  });

  it(
    "of 1 GB of output the first and the last 32 MB are kept, in bounded memory, and what was left out is said",
    { timeout: 60_000 },
    async () => {
      const command = "echo begins; head -c 1073741824 /dev/zero | tr '\\0' x; echo; echo ends";
      const { app, client, agentId, turn } = await bashApp([["bash_run", { command }]]);
      globalThis.gc?.();
      const before = process.memoryUsage().rss;
      let most = before;
      const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 20);
      const [call] = await turn();
      clearInterval(watch);
      expect(call?.state).toBe("COMPLETED");
      expect(call?.details["outputBytes"]).toBe(1_073_741_824 + 7 + 6);
      expect(most - before).toBeLessThan(250 * 1024 * 1024);
      expect(call?.output).toMatch(/^begins\nx*\n\[… \d+ of 1073741837 bytes are left out here …\]\nx*\nends\n\[exit code 0/);
      const found = await client.get(KeptOutputsDocument, { agentId, offset: 32 * 1024 * 1024, bytes: 100 });
      const kept = found.toolCalls.nodes[0]?.keptOutput;
      const mark = `\n[… ${1_073_741_837 - 64 * 1024 * 1024} bytes were not kept …]\n`;
      expect(kept?.piece?.text.startsWith(mark)).toBe(true);
      expect(kept?.bytes).toBe(64 * 1024 * 1024 + Buffer.byteLength(mark));
      expect(await readdir(join(app.workspace, ".data/outputs"))).toHaveLength(1);
    },
  );

  it("a whole output that cannot be kept is reported, and the call ends as it would have", async () => {
    const { app, client, agentId } = await bashApp([["bash_run", { command: "seq 1 30000" }]]);
    await mkdir(join(app.workspace, ".data"), { recursive: true });
    await writeFile(join(app.workspace, ".data/outputs"), "in the way");
    const events = await client.turn(agentId, "go");
    expect(ofType(events, "ErrorRaised")).toMatchObject([{ detail: "output_not_kept" }]);
    const [call] = await callsOf(client, agentId);
    expect(call?.state).toBe("COMPLETED");
    expect(call?.output).toContain("30000\n[exit code 0");
  });
});

/** A piece of the whole output of the agent's newest call. */
async function keptOutput(
  client: TestClient,
  agentId: string,
  offset: number,
  bytes: number,
): Promise<{
  readonly bytes: number;
  readonly piece: { readonly text: string; readonly nextOffset: number | null } | null;
} | null> {
  const { toolCalls } = await client.get(KeptOutputsDocument, { agentId, offset, bytes });
  return toolCalls.nodes[0]?.keptOutput ?? null;
}

it("each agent has a HOME of its own", async () => {
  const command = 'echo "$HOME"';
  const { app, client, agentId, turn } = await bashApp([], { model: makesForEach(command) });
  const other = await client.createAgent();
  const [own] = await turn();
  await connect(app.url).turn(other.id, "go");
  const [others] = await callsOf(client, other.id);
  expect(own?.output?.split("\n")[0]).not.toBe(others?.output?.split("\n")[0]);
  expect(agentId).not.toBe(other.id);
});

/** A model that makes one call in the first step of each turn. */
function makesForEach(command: string) {
  const [first, second] = [makes(["bash_run", { command }]), makes(["bash_run", { command }])];
  let calls = 0;
  return {
    ...first,
    stream: (...given: Parameters<typeof first.stream>) => ((calls += 1) <= 2 ? first : second).stream(...given),
  };
}
