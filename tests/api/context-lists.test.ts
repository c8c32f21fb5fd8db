import { parse } from "graphql";
import { expect, it } from "vitest";
import type { TypedDocumentNode } from "@graphql-typed-document-node/core";
import { startTestApp } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { ownTool } from "../support/tools.ts";
import { windowedModel } from "../support/windowed-model.ts";

type Listed = { readonly toolCalls: { readonly nodes: readonly { readonly context: { readonly isProved: boolean } | null }[] } };

const CONTEXTS: TypedDocumentNode<Listed, object> = parse(
  "{ toolCalls(first: 100) { nodes { context { isProved hash messages(first: 1) { totalCount } } } } }",
);

const CALLS = 60;

it("the requests of many calls are read by one operation", { timeout: 60_000 }, async () => {
  const reads = ownTool("reads", async () => ({ output: "x".repeat(3_000), details: null }));
  const reply = (_request: object, count: number) =>
    count < CALLS ? { tool: "reads", input: { path: `${count}` } } : { text: "ok" };
  const model = windowedModel({ window: 1_000_000, reply, summary: () => "A summary." });
  const app = await startTestApp({
    model,
    config: { tools: [reads] },
    template: { tools: ["reads"], permission: { mode: "auto" } },
  });
  const client = connect(app.url);
  const { id } = await client.createAgent();
  await client.turn(id, "go");
  const { data, errors } = await client.ask(CONTEXTS, {});
  expect(errors).toEqual([]);
  expect(data?.toolCalls.nodes.length).toBeGreaterThanOrEqual(50);
  expect(data?.toolCalls.nodes.every(({ context }) => context?.isProved)).toBe(true);
});
