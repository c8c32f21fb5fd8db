import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { NEIGHBOURS } from "../support/actors.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { connect } from "../support/client.ts";

const DOCUMENTS = {
  viewer: "query Viewer { viewer { tenant } }",
  follow: "subscription Follow { timeline { cursor } }",
};

async function fileOf(content: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "triplane-documents-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "documents.json");
  await writeFile(file, content);
  return file;
}

/** A server of which the role user sends trusted documents only, and approvers any. */
async function limited(manifest: object = DOCUMENTS): Promise<TestApp> {
  const trustedDocuments = await fileOf(JSON.stringify(manifest));
  return startTestApp({ config: { ...NEIGHBOURS, trustedDocuments, operations: { user: "trusted" } } });
}

/** The answer's codes, or its data. */
async function sent(response: Response): Promise<unknown> {
  const text = await response.text();
  const json = text.startsWith("{") ? text : (/^data: (\{.*)$/m.exec(text)?.[1] ?? text);
  const { data, errors } = JSON.parse(json) as { data?: unknown; errors?: { extensions?: { code?: string } }[] };
  return errors?.map(({ extensions }) => extensions?.code) ?? data;
}

/** The ways to send the same over HTTP and SSE. */
function ways({ url }: TestApp, who: string) {
  const headers = { "content-type": "application/json", authorization: `Bearer ${who}-token` };
  const post = async (body: object, accept = "application/json") =>
    sent(await fetch(url, { method: "POST", headers: { ...headers, accept }, body: JSON.stringify(body) }));
  const get = async (parameters: Record<string, string>) =>
    sent(await fetch(`${url}?${new URLSearchParams(parameters).toString()}`, { headers }));
  return { post, get };
}

const persisted = (sha256Hash: string) => ({ persistedQuery: { version: 1, sha256Hash } });
const VIEWER = { viewer: { tenant: "acme" } };

describe("documents that are sent by their ids", () => {
  it("are run over HTTP, SSE and WebSocket; an unknown id, and a text of who may send none, are refused before they are parsed", async () => {
    const app = await limited();
    const anna = ways(app, "anna");
    expect(await anna.post({ documentId: "viewer" })).toEqual(VIEWER);
    expect(await anna.post({ extensions: persisted("viewer") })).toEqual(VIEWER);
    expect(await anna.get({ documentId: "viewer" })).toEqual(VIEWER);
    expect(await anna.get({ extensions: JSON.stringify(persisted("viewer")) })).toEqual(VIEWER);
    expect(await anna.post({ documentId: "viewer" }, "text/event-stream")).toEqual(VIEWER);
    // The id counts, whatever text comes with it.
    expect(await anna.post({ documentId: "viewer", query: "{ __typename }" })).toEqual(VIEWER);
    for (const accept of ["application/json", "text/event-stream"]) {
      expect(await anna.post({ documentId: "none" }, accept)).toEqual(["UNKNOWN_DOCUMENT"]);
      expect(await anna.post({ documentId: "none", query: "{ __typename }" }, accept)).toEqual(["UNKNOWN_DOCUMENT"]);
      expect(await anna.post({ query: DOCUMENTS.viewer }, accept)).toEqual(["UNTRUSTED_DOCUMENT"]);
      expect(await anna.post({ query: "{ not even a document" }, accept)).toEqual(["UNTRUSTED_DOCUMENT"]);
    }
    expect(await anna.get({ query: "{ __typename }" })).toEqual(["UNTRUSTED_DOCUMENT"]);
    for (const id of ["__proto__", "toString", ""]) expect(await anna.post({ documentId: id })).toEqual(["UNKNOWN_DOCUMENT"]);
  });

  it("over WebSocket go through the same look-up", async () => {
    const app = await limited();
    const first = async (payload: { query: string; extensions?: Record<string, unknown> }) => {
      const socket = connect(app.url, "anna-token").iteratePayload(payload);
      return (await socket.next().catch((error: unknown) => ({ value: error }))).value as unknown;
    };
    expect(await first({ query: "", extensions: { documentId: "viewer" } })).toMatchObject({ data: VIEWER });
    expect(await first({ query: "", extensions: persisted("follow") })).toMatchObject({ data: { timeline: {} } });
    expect(JSON.stringify(await first({ query: "", extensions: { documentId: "none" } }))).toContain("UNKNOWN_DOCUMENT");
    expect(JSON.stringify(await first({ query: DOCUMENTS.follow }))).toContain("UNTRUSTED_DOCUMENT");
    expect(JSON.stringify(await first({ query: "{ not even" }))).toContain("UNTRUSTED_DOCUMENT");
  });

  it("limit only the roles that are named: who has another one besides sends any text", async () => {
    const paul = ways(await limited(), "paul");
    expect(await paul.post({ query: DOCUMENTS.viewer })).toEqual(VIEWER);
    expect(await paul.post({ documentId: "viewer" })).toEqual(VIEWER);
    expect(await paul.post({ documentId: "none" })).toEqual(["UNKNOWN_DOCUMENT"]);
    // As Apollo sends an automatic persisted query whose text the server does not know.
    expect(await paul.post({ query: DOCUMENTS.viewer, extensions: persisted("none") })).toEqual(VIEWER);
  });

  it("are read from Apollo's manifest, too", async () => {
    const operations = [{ id: "a1", name: "Viewer", type: "query", body: DOCUMENTS.viewer }];
    const app = await limited({ format: "apollo-persisted-query-manifest", version: 1, operations });
    expect(await ways(app, "anna").post({ documentId: "a1" })).toEqual(VIEWER);
  });
});

it.each([
  ["a role that is limited to documents, and none are given", null, /operations limits a role/],
  ["a file that is not there", "missing", /cannot be read/],
  ["no JSON", "{", /is no JSON/],
  ["another form", '{ "a": 1 }', /is neither \{ "id": "text" \} nor/],
  ["a document that does not fit the schema", '{ "a": "{ nothing }" }', /the document a of .*Cannot query field "nothing"/],
  ["a document that is none", '{ "a": "{" }', /the document a of .*Syntax Error/],
])("a configuration with %s is refused at the start", async (_name, content, problem) => {
  const trustedDocuments =
    content === null ? {} : { trustedDocuments: content === "missing" ? "/none.json" : await fileOf(content) };
  const config = { ...NEIGHBOURS, ...trustedDocuments, operations: { user: "trusted" as const } };
  await expect(startTestApp({ config })).rejects.toThrow(problem);
});
