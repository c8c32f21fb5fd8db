import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { request, type IncomingHttpHeaders } from "node:http";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { ConsoleState } from "../../src/server/console/build.ts";
import { startTestApp, temporaryFolder } from "../support/app.ts";

const HTML = { accept: "text/html,*/*" };

type Answer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: string };

/** A console with a page, a script and a secret beside it. */
async function builtFolder(): Promise<string> {
  const folder = join(await temporaryFolder(), "console");
  await mkdir(join(folder, "assets"), { recursive: true });
  await mkdir(join(folder, ".vite"));
  await writeFile(join(folder, "index.html"), "<!doctype html>the page");
  await writeFile(join(folder, "assets/main-1a2b.js"), "let a = 1;");
  await writeFile(join(folder, "assets/main-1a2b.js.gz"), gzipSync("let a = 1;"));
  await writeFile(join(folder, ".vite/manifest.json"), "{}");
  await writeFile(join(folder, "../secret.json"), "secret");
  return folder;
}

async function consoleApp(state: ConsoleState) {
  const { port } = await startTestApp({ overrides: { console: () => state } });
  return (path: string, headers: Readonly<Record<string, string>> = {}, method = "GET"): Promise<Answer> =>
    new Promise((resolve, reject) => {
      // A path as it is: `fetch` would resolve its dots.
      const sent = request({ port, host: "127.0.0.1", path, headers, method }, (response) => {
        let body = "";
        response.setEncoding("latin1").on("data", (text: string) => (body += text));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
      });
      sent.on("error", reject).end();
    });
}

describe("the console at /console", () => {
  it("opens for browsers at /, and other clients are told where the API is", async () => {
    const get = await consoleApp({ kind: "built", folder: await builtFolder() });
    const page = await get("/", HTML);
    expect([page.status, page.headers.location]).toEqual([302, "/console"]);
    expect((await get("/")).status).toBe(404);
  });

  it("is one page for every address that a browser opens below it, and for every client at its own", async () => {
    const get = await consoleApp({ kind: "built", folder: await builtFolder() });
    for (const path of ["/console", "/console/", "/console/inbox/abc?tool=x"]) {
      const { status, headers, body } = await get(path, HTML);
      expect([status, headers["content-type"], headers["cache-control"], body], path).toEqual([
        200,
        "text/html; charset=utf-8",
        "no-cache",
        "<!doctype html>the page",
      ]);
    }
    for (const path of ["/console", "/console/"]) expect((await get(path, {}, "HEAD")).status, path).toBe(200);
    expect((await get("/console/inbox/abc")).status).toBe(404);
    expect((await get("/consoles", HTML)).status).toBe(404);
  });

  it("keeps hashed files for ever, compressed for those who take that, and knows what a browser has", async () => {
    const get = await consoleApp({ kind: "built", folder: await builtFolder() });
    const path = "/console/assets/main-1a2b.js";
    const plain = await get(path);
    expect(plain).toMatchObject({ status: 200, body: "let a = 1;" });
    expect(plain.headers).toMatchObject({
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": "public, max-age=31536000, immutable",
      vary: "accept-encoding",
    });
    const zipped = await get(path, { "accept-encoding": "br;q=0, gzip" });
    expect(zipped.headers["content-encoding"]).toBe("gzip");
    expect((await get(path, { "accept-encoding": "gzip;q=0" })).headers["content-encoding"]).toBeUndefined();
    const { etag = "" } = zipped.headers;
    expect(etag).not.toBe(plain.headers.etag);
    expect(await get(path, { "accept-encoding": "gzip", "if-none-match": etag })).toMatchObject({ status: 304, body: "" });
    expect(await get(path, {}, "HEAD")).toMatchObject({ status: 200, body: "" });
  });

  it("has no other file of the disk, whatever the path", async () => {
    const get = await consoleApp({ kind: "built", folder: await builtFolder() });
    for (const path of [
      "/console/../secret.json",
      "/console/%2e%2e/secret.json",
      "/console/..%2fsecret.json",
      "/console/assets/../../secret.json",
      "/console//etc/passwd",
      "/console/.vite/manifest.json",
      "/console/assets/main-1a2b.js.gz",
      "/console/assets/none.js",
    ])
      expect((await get(path)).status, path).toBe(404);
    expect((await get("/console/assets/none.js", HTML)).status).toBe(404);
  });

  it("takes no other method", async () => {
    const get = await consoleApp({ kind: "built", folder: await builtFolder() });
    const { status, headers } = await get("/console", HTML, "POST");
    expect([status, headers.allow]).toEqual([405, "GET, HEAD"]);
  });

  it("loads nothing from elsewhere, runs no inline script, and stands in no frame", async () => {
    const get = await consoleApp({ kind: "built", folder: await builtFolder() });
    const { headers } = await get("/console", HTML);
    const policy = String(headers["content-security-policy"]);
    expect(policy).toContain("script-src 'self'");
    expect(policy).toContain("style-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("unsafe");
    expect(headers["x-content-type-options"]).toBe("nosniff");
  });

  it("says that it is being built, and reloads until then", async () => {
    const get = await consoleApp({ kind: "building" });
    const { status, headers, body } = await get("/console/inbox", HTML);
    expect([status, headers["retry-after"], headers["cache-control"]]).toEqual([503, "1", "no-store"]);
    expect(body).toContain("The console is being built.");
    expect(body).toContain('http-equiv="refresh"');
  });

  it("says why it is not there, without markup of the reason", async () => {
    const get = await consoleApp({ kind: "unavailable", reason: "no <script>" });
    const { status, body } = await get("/console", HTML);
    expect(status).toBe(503);
    expect(body).toContain("no &lt;script>");
    expect(body).not.toContain("refresh");
  });
});
