import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
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
