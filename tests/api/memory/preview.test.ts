import { expect, it } from "vitest";
import { startTestApp } from "../../support/app.ts";
import { makes } from "../../support/bash.ts";
import { connect, ofType } from "../../support/client.ts";
import { memory } from "../../support/memory-app.ts";

const PATH = "/memories/notes.md";

it("an approval of a change of memory shows the entry and the difference", async () => {
  const app = await startTestApp({
    model: makes(
      memory("create", { path: PATH, file_text: "one\ntwo\n" }),
      memory("str_replace", { path: PATH, old_str: "two", new_str: "three" }),
    ),
    template: { memory: {}, permission: { mode: "approval" } },
  });
  const client = connect(app.url);
  const { id, cursor } = await client.createAgent();
  await client.send(id, "go");
  const diffs: unknown[] = [];
  for (let since = cursor; diffs.length < 2;) {
    const events = await client.until(id, "PERMISSION_REQUIRED", since);
    since = events.at(-1)?.cursor ?? since;
    const [request] = ofType(events, "PermissionRequired").map((event) => event.request);
    const { approvalId = "", inputHash = null } = request ?? {};
    const query = `query($id: ID!) { node(id: $id) { ... on Approval { preview { problem files { path diff } } } } }`;
    const { data } = await client.post<{ node: { preview: unknown } }>({ query, variables: { id: approvalId } });
    diffs.push(data?.node.preview);
    expect((await client.decide({ approvalId, inputHash, decision: "ALLOW" })).userErrors).toEqual([]);
  }
  expect(diffs).toMatchObject([
    { problem: null, files: [{ path: PATH, diff: expect.stringContaining("+one\n+two") }] },
    { problem: null, files: [{ path: PATH, diff: expect.stringMatching(/-two\n\+three/) }] },
  ]);
});
