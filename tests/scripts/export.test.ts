import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { exportArguments } from "../../scripts/export-arguments.ts";
import { ExportServer } from "../../scripts/export-server.ts";
import { OutFile } from "../../scripts/out-file.ts";
import { tokenActor } from "../support/actors.ts";
import { startTestApp, temporaryFolder } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { runFile } from "../support/process.ts";

const script = {
  replies: [
    { when: { user: "go" }, call: [{ tool: "fs_read", input: { path: "missing.txt" } }] },
    { when: {}, say: ["Done."] },
  ],
};

it("`npm run export` writes the file of an export, and says where the next one begins", { timeout: 60_000 }, async () => {
  const app = await startTestApp({ script, config: { actors: [tokenActor("anna", ["user"]).actor] } });
  const anna = connect(app.url, "anna-token");
  const agent = await anna.createAgent();
  await anna.turn(agent.id, "go");
  const folder = await temporaryFolder();
  const run = async (...args: readonly string[]) => {
    const env = { TRIPLANE_TOKEN: "anna-token" };
    const { exited, output } = runFile("scripts/export.ts", ["--url", new URL("/", app.url).href, ...args], env);
    return { code: await exited, said: output() };
  };
  const out = join(folder, "calls.csv");
  const first = await run("--out", out, "--tools", "fs_read");
  expect([first.code, first.said]).toEqual([0, expect.stringContaining("1 rows")]);
  expect((await readFile(out, "utf8")).split("\r\n").slice(0, 2)).toEqual([
    expect.stringMatching(/^\uFEFFcall_id,/),
    expect.stringContaining(",fs_read,FAILED,"),
  ]);
  const [since = ""] = /^1\.[0-9a-f.]+$/m.exec(first.said) ?? [];
  const next = join(folder, "next.ndjson");
  expect(await run("--out", next, "--since", since)).toMatchObject({ code: 0 });
  expect(await readFile(next, "utf8")).toBe("");
  expect(await readdir(folder)).toEqual(["calls.csv", "next.ndjson"]);
  const refused = await run("--out", join(folder, "texts.csv"), "--texts");
  expect([refused.code, refused.said]).toEqual([1, expect.stringContaining("needs the role admin")]);
  expect((await run()).said).toContain("--out FILE");
});

it("mistakes in the arguments of `npm run export` are told in words of its options", () => {
  const mistakes = [
    [["--from", "yesterday"], "--from yesterday is no time: give date, time and zone, such as 2026-03-02T00:00:00Z"],
    [["--to", "2026-03-02"], "--to 2026-03-02 is no time: give date, time and zone, such as 2026-03-02T00:00:00Z"],
    [["--what", "CALLS"], /^--what CALLS is not known: give one of TOOL_CALLS, APPROVALS, .*EVENTS$/],
    [["--format", "xlsx"], "--format xlsx is not known: give one of CSV, NDJSON"],
    [["--since", "1.a"], "--since 1.a is no position: give the last line that an earlier export printed"],
    [["--tools", "fs_read,"], "--tools has an empty name: give names such as bash_run,fs_write"],
    [["--url", "triplane"], "--url triplane is no address of a server: give one such as http://127.0.0.1:4000"],
    [["--colour"], /^Unknown option '--colour'.*\nnpm run export -- --out FILE/],
    [["--out", ""], /^--out is missing: name the file to write\n/],
  ] as const;
  for (const [args, said] of mistakes) expect(() => exportArguments(["--out", "calls.csv", ...args])).toThrow(said);
  expect(exportArguments(["--out", "calls.CSV", "--what", "steps"])?.input).toMatchObject({ what: "STEPS", format: "CSV" });
});

it("an export that the server refuses is told in a line with the remedy, and leaves no file", { timeout: 60_000 }, async () => {
  const app = await startTestApp({ script, config: { actors: [tokenActor("anna", ["user"]).actor] } });
  const folder = await temporaryFolder();
  const foreign = ["--url", app.url, "--out", join(folder, "steps.csv"), "--what", "STEPS", "--tools", "fs_read"];
  const { exited, output } = runFile("scripts/export.ts", foreign, { TRIPLANE_TOKEN: "anna-token" });
  expect([await exited, output()]).toEqual([1, "--tools: an export of STEPS cannot be filtered by `tools`\n"]);
  expect(await readdir(folder)).toEqual([]);
  const asked = async (token: string, since?: string): Promise<unknown> => {
    vi.stubEnv("TRIPLANE_TOKEN", token);
    const query = "mutation ($input: CreateExportInput!) { createExport(input: $input) { cursor } }";
    return new ExportServer(app.url).ask(query, { input: { what: "STEPS", format: "CSV", since } });
  };
  await expect(asked("anna-token", `1.00000000.00000000.${"0".repeat(14)}`)).rejects.toThrow(
    /^--since, or --as-of: this cursor belongs to another tenant's log/,
  );
  await expect(asked(" ")).rejects.toThrow(/ wants a token: set TRIPLANE_TOKEN to yours$/);
  await expect(asked("old-token")).rejects.toThrow(/ does not accept the token of TRIPLANE_TOKEN: set it to a valid one$/);
  await expect(asked("old token")).rejects.toThrow(/^TRIPLANE_TOKEN has a space/);
  expect(await asked(" anna-token\n")).toHaveProperty("createExport");
});

it("an export has a place before it is asked for", async () => {
  const folder = await temporaryFolder();
  const none = join(folder, "none", "calls.csv");
  await expect(OutFile.begin(none, false)).rejects.toThrow(
    `--out ${none}: there is no folder ${join(folder, "none")}: make it, or name another file`,
  );
  await expect(OutFile.begin(folder, true)).rejects.toThrow(`--out ${folder} is no file: name one`);
  await writeFile(join(folder, "file"), "");
  await expect(OutFile.begin(join(folder, "file", "calls.csv"), false)).rejects.toThrow(
    /cannot be written in .*file \(ENOTDIR\)/,
  );
});

it("`npm run export` replaces a file with --force only", { timeout: 60_000 }, async () => {
  const app = await startTestApp({ script });
  const out = join(await temporaryFolder(), "calls.ndjson");
  await writeFile(out, "the first export");
  const run = async (...more: readonly string[]) => {
    const { exited, output } = runFile("scripts/export.ts", ["--url", app.url, "--out", out, ...more]);
    return { code: await exited, said: output() };
  };
  expect(await run()).toEqual({
    code: 1,
    said: `--out ${out} exists already: name another file, or replace this one with --force\n`,
  });
  expect(await readFile(out, "utf8")).toBe("the first export");
  expect(await run("--force")).toMatchObject({ code: 0 });
  expect(await readFile(out, "utf8")).toBe("");
});

it("a file that comes while `npm run export` writes stays, and so does the export", { timeout: 60_000 }, async () => {
  const out = join(await temporaryFolder(), "calls.csv");
  const made = { id: "x", state: "DONE", rows: 1, bytes: 3, asOf: "1.a", problem: null, viewerUrl: "/file" };
  const server = createServer((request, response) => {
    request.resume();
    if (request.url !== "/file") response.end(JSON.stringify({ data: { createExport: { export: made, userErrors: [] } } }));
    else void writeFile(out, "another").then(() => response.end("new"));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  // That of another run that writes the same.
  await writeFile(`${out}.partial`, "half");
  const { child, exited, output } = runFile("scripts/export.ts", ["--url", `http://127.0.0.1:${port}`, "--out", out]);
  expect(await exited).toBe(1);
  const partial = `${out}.${child.pid}.partial`;
  expect(output()).toBe(`${out} has come meanwhile and stays: the whole export is in ${partial}\n`);
  expect(await readFile(out, "utf8")).toBe("another");
  expect(await readFile(partial, "utf8")).toBe("new");
  expect(await readFile(`${out}.partial`, "utf8")).toBe("half");
});

it("`npm run export` goes on with its download when the server was away, or broke it off", { timeout: 60_000 }, async () => {
  const bytes = Buffer.from("0123456789");
  const made = { id: "x", rows: 1, bytes: bytes.length, asOf: "1.a", problem: null, viewerUrl: "/file" };
  const ranges: (string | undefined)[] = [];
  let looks = 0;
  const server = createServer((request, response) => {
    request.resume();
    if (request.url === "/file") {
      ranges.push(request.headers.range);
      if (ranges.length === 1) response.writeHead(503).end();
      else if (ranges.length === 2)
        response.writeHead(200, { "content-length": 10 }).write(bytes.subarray(0, 4), () => response.destroy());
      else response.writeHead(206).end(bytes.subarray(4));
      return;
    }
    looks += 1;
    if (looks === 2) request.destroy();
    else {
      const state = looks < 3 ? "RUNNING" : "DONE";
      const answer =
        looks === 1 ? { createExport: { export: { ...made, state }, userErrors: [] } } : { export: { ...made, state } };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ data: answer }));
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const out = join(await temporaryFolder(), "calls.csv");
  const { exited, output } = runFile("scripts/export.ts", ["--url", `http://127.0.0.1:${port}`, "--out", out], {});
  expect(await exited, output()).toBe(0);
  expect(ranges).toEqual([undefined, undefined, "bytes=4-"]);
  expect(await readFile(out)).toEqual(bytes);
});
