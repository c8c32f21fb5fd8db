// A server of the older generation that keeps its root, and takes `takesMs` to take in another one. Its tool `where` says it.
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";

const takesMs = Number(process.argv[2] ?? 1_000);
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
let root = "none";
let asked = 0;

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, result } = JSON.parse(line);
  if (method === undefined) {
    const [first] = result?.roots ?? [];
    if (first !== undefined) void setTimeout(takesMs).then(() => (root = first.uri));
  } else if (method === "initialize")
    send({
      id,
      result: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "rooted", version: "1" } },
    });
  else if (method === "notifications/initialized" || method === "notifications/roots/list_changed")
    send({ id: `r${(asked += 1)}`, method: "roots/list" });
  else if (method === "tools/list") send({ id, result: { tools: [{ name: "where", inputSchema: { type: "object" } }] } });
  else if (method === "tools/call") send({ id, result: { content: [{ type: "text", text: root }] } });
  else if (id !== undefined) send({ id, result: {} });
}
