import { describe, expect, it } from "vitest";
import { CreateAccessTokenDocument, ExportDocument, RevokeAccessTokenDocument } from "../../generated/documents.ts";
import { tokenActor } from "../../support/actors.ts";
import { startTestApp, temporaryFolder } from "../../support/app.ts";
import { connect } from "../../support/client.ts";
import { movableClock } from "../../support/clock.ts";
import { testDatabaseUrl } from "../../support/database.ts";
import { download, exported } from "../../support/exports.ts";

const script = {
  replies: [
    { when: { user: "go" }, call: [{ tool: "fs_read", input: { path: "missing.txt" } }] },
    { when: {}, say: ["Done."] },
  ],
};
const template = { permission: { mode: "auto" } };
const PEOPLE = {
  actors: [tokenActor("anna", ["user"]).actor, tokenActor("vera", ["viewer"]).actor, tokenActor("ada", ["admin"]).actor],
};

describe("the address of an export", () => {
  it("gives the file to browsers and programs without other credentials, and continues an interrupted download", async () => {
    const app = await startTestApp({ script, template, config: PEOPLE });
    const anna = connect(app.url, "anna-token");
    await anna.turn((await anna.createAgent()).id, "go");
    const done = await exported(anna, { format: "CSV" });
    const { status, headers, bytes } = await download(app, done);
    expect([status, bytes.length]).toEqual([200, done.bytes]);
    expect(headers.get("content-disposition")).toMatch(/^attachment; filename="triplane-tool-calls-[0-9a-f-]{36}\.csv"$/);
    expect([headers.get("x-content-type-options"), headers.get("cache-control")]).toEqual(["nosniff", "no-store"]);
    const rest = await download(app, done, { range: "bytes=100-", "if-range": headers.get("etag") });
    expect([rest.status, rest.headers.get("content-range")]).toEqual([206, `bytes 100-${bytes.length - 1}/${bytes.length}`]);
    expect(rest.bytes.equals(bytes.subarray(100))).toBe(true);
    // Another file than the one that was begun: all of it.
    expect((await download(app, done, { range: "bytes=100-", "if-range": '"other"' })).status).toBe(200);
    expect((await download(app, done, { range: "bytes=99999-" })).status).toBe(416);
    const head = await fetch(new URL(done.viewerUrl ?? "", app.url), { method: "HEAD" });
    expect(head.headers.get("content-length")).toBe(String(bytes.length));
    expect((await fetch(new URL(done.viewerUrl ?? "", app.url), { method: "POST" })).status).toBe(405);
  });

  it("gives a range of the file, by its first and last byte or by its length", async () => {
    const app = await startTestApp({ script, template });
    const client = connect(app.url);
    await client.turn((await client.createAgent()).id, "go");
    const done = await exported(client, { format: "CSV" });
    const { bytes: all, headers } = await download(app, done);
    const total = all.length;
    expect(headers.get("accept-ranges")).toBe("bytes");
    for (const [range, start, end] of [
      ["bytes=0-0", 0, 1],
      ["bytes=0-", 0, total],
      ["bytes=10-19", 10, 20],
      ["Bytes=10-999999", 10, total],
      ["bytes=-7", total - 7, total],
      ["bytes=-999999", 0, total],
      // The greatest whole number of many programs, and one beyond all numbers.
      ["bytes=10-9223372036854775807", 10, total],
      [`bytes=-${"9".repeat(400)}`, 0, total],
    ] as const) {
      const part = await download(app, done, { range });
      expect([part.status, part.headers.get("content-range")], range).toEqual([206, `bytes ${start}-${end - 1}/${total}`]);
      expect(part.headers.get("content-length")).toBe(String(end - start));
      expect(part.bytes.equals(all.subarray(start, end)), range).toBe(true);
    }
    // Several ranges, and what is no range, get the whole file: RFC 9110 allows it.
    for (const range of ["bytes=0-1,5-6", "bytes=9-3", "bytes=-", "lines=1-2"]) {
      const whole = await download(app, done, { range });
      expect([whole.status, whole.bytes.length], range).toEqual([200, total]);
    }
    for (const range of [`bytes=${total}-${total + 5}`, "bytes=-0", "bytes=9223372036854775807-"])
      expect((await download(app, done, { range })).status, range).toBe(416);
    const none = await exported(client, { filter: { tools: ["none"] } });
    expect((await download(app, none, { range: "bytes=0-9" })).status).toBe(200);
  });

  it("is refused after an hour, and if a letter of it is changed", async () => {
    const clock = movableClock();
    const app = await startTestApp({ script, template, config: PEOPLE, overrides: { clock } });
    const anna = connect(app.url, "anna-token");
    const done = await exported(anna, { format: "CSV" });
    const url = done.viewerUrl ?? "";
    const [claim = "", signature = ""] = url.slice("/exports/".length).split(".");
    const claimed = JSON.parse(Buffer.from(claim, "base64url").toString()) as unknown[];
    const forged = Buffer.from(JSON.stringify(claimed.with(2, "ada"))).toString("base64url");
    for (const changed of [`/exports/${forged}.${signature}`, `${url}x`, "/exports/", "/exports/a.b.c"])
      expect((await download(app, { viewerUrl: changed })).status).toBe(404);
    await clock.passHours(59 / 60);
    expect((await download(app, done)).status).toBe(200);
    await clock.passHours(2 / 60);
    expect((await download(app, done)).status).toBe(404);
    const again = (await anna.get(ExportDocument, { id: done.id })).export;
    expect((await download(app, { viewerUrl: again?.viewerUrl ?? null })).status).toBe(200);
  });

  it("is no right of its own: it is refused once its actor has none any more", async () => {
    const url = await testDatabaseUrl();
    const database = { kind: "postgres", url, connections: 3 } as const;
    const before = await startTestApp({ script, template, database, config: PEOPLE });
    const of = async (name: string) => exported(connect(before.url, `${name}-token`), { format: "CSV" });
    const [annas, veras, adas] = [await of("anna"), await of("vera"), await of("ada")];
    const texts = await exported(connect(before.url, "ada-token"), { withTexts: true, format: "CSV" });
    await before.close();
    // anna has left, vera is a user now, and ada a viewer.
    const actors = [tokenActor("vera", ["user"]).actor, tokenActor("ada", ["viewer"]).actor];
    const after = await startTestApp({ script, template, database, config: { actors } });
    const status = async (each: typeof annas) => (await download(after, each)).status;
    expect([await status(annas), await status(veras), await status(adas), await status(texts)]).toEqual([401, 404, 200, 404]);
    const hers = (await connect(after.url, "vera-token").get(ExportDocument, { id: veras.id })).export;
    expect(hers).toMatchObject({ state: "DONE", viewerUrl: null });
  });

  it("ends with the access token by which it was asked for", async () => {
    const app = await startTestApp({ script, template, config: PEOPLE });
    const anna = connect(app.url, "anna-token");
    const { createAccessToken } = await anna.get(CreateAccessTokenDocument, { input: { name: "a program" } });
    const done = await exported(connect(app.url, createAccessToken.secret ?? ""), { format: "CSV" });
    expect((await download(app, done)).status).toBe(200);
    await anna.get(RevokeAccessTokenDocument, { id: createAccessToken.accessToken?.id ?? "" });
    expect((await download(app, done)).status).toBe(401);
    const own = (await anna.get(ExportDocument, { id: done.id })).export;
    expect((await download(app, { viewerUrl: own?.viewerUrl ?? null })).status).toBe(200);
  });

  it("needs the sender's own credentials where configured code recognises senders", async () => {
    const folder = await temporaryFolder();
    const known = new Set(["anna", "ada"]);
    const app = await startTestApp({
      script,
      template,
      config: {
        tenants: { acme: { workspaceRoots: [folder], defaultWorkspace: folder } },
        authenticate: ({ token }) =>
          token !== null && known.has(token) ? { id: token, tenant: "acme", roles: ["admin"] } : null,
      },
    });
    const done = await exported(connect(app.url, "anna"), { format: "CSV" });
    const as = async (name: string) => (await download(app, done, { authorization: `Bearer ${name}` })).status;
    expect([await as("anna"), await as("ada"), await as("nobody"), (await download(app, done)).status]).toEqual([
      200, 401, 401, 401,
    ]);
    known.delete("anna");
    expect(await as("anna")).toBe(401);
  });

  it("takes no place of a download whose reader left before it began", async () => {
    const folder = await temporaryFolder();
    let asked: { readonly begun: PromiseWithResolvers<void>; readonly left: Promise<void> } | null = null;
    const app = await startTestApp({
      script,
      template,
      config: {
        tenants: { acme: { workspaceRoots: [folder], defaultWorkspace: folder } },
        authenticate: async () => {
          asked?.begun.resolve();
          await asked?.left;
          return { id: "anna", tenant: "acme", roles: ["user"] };
        },
      },
    });
    const done = await exported(connect(app.url, "anna"), { format: "CSV" });
    for (let count = 0; count < 3; count += 1) {
      const left = Promise.withResolvers<void>();
      const begun = Promise.withResolvers<void>();
      asked = { begun, left: left.promise };
      const reader = new AbortController();
      const given = fetch(new URL(done.viewerUrl ?? "", app.url), { signal: reader.signal });
      await begun.promise;
      reader.abort();
      await expect(given).rejects.toThrow();
      // A later request has its answer, so the server knows that the reader has left.
      await fetch(new URL("/healthz", app.url));
      left.resolve();
    }
    asked = null;
    expect((await download(app, done)).status).toBe(200);
  });
});
