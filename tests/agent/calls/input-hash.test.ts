import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { expect, it } from "vitest";
import { inputHash } from "../../../src/agent/calls/stages/confirmation.ts";
import { fsWrite } from "../../../src/agent/tools/fs/write.ts";

const request = { tenant: "acme", agentId: "a", callId: "c", name: "fs_write", form: "json", input: {} } as const;
const INPUT = { path: "a.txt", content: '€ \u0000 " \\ 1e21' };

function hash(change: { readonly request?: object; readonly input?: object; readonly workspace?: string } = {}): string {
  const bound = fsWrite.bind({ ...INPUT, ...change.input });
  if (!bound.ok) throw new Error("the input is valid");
  return inputHash({ request: { ...request, ...change.request }, tool: fsWrite, bound: bound.value }, change.workspace ?? "/srv");
}

it("the hash of an input is SHA-256 over the RFC 8785 form of all that decides what would run", () => {
  const form = canonicalize({
    tenant: "acme",
    agent: "a",
    call: "c",
    tool: "fs_write",
    schema: fsWrite.inputSchema,
    input: INPUT,
    workspace: "/srv",
  });
  expect(hash()).toBe(createHash("sha256").update(String(form)).digest("hex"));
});

it.each([
  ["tenant", { request: { tenant: "other" } }],
  ["agent", { request: { agentId: "b" } }],
  ["call", { request: { callId: "d" } }],
  ["input", { input: { content: "x" } }],
  ["workspace", { workspace: "/srv/other" }],
])("another %s has another hash (invariant 7)", (_name, change) => {
  expect(hash(change)).not.toBe(hash());
});
