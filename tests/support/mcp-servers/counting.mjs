// A server that writes a line into the file of its first argument for each call, and answers with the error of its second one.
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
const [file, error] = process.argv.slice(2);
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  const send = (m) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...m })}\n`);
  if (method === "initialize")
    send({ result: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "c", version: "1" } } });
  else if (method === "tools/list") send({ result: { tools: [{ name: "work", inputSchema: { type: "object" } }] } });
  else if (method === "tools/call") {
    appendFileSync(file, "called\n");
    send({ error: JSON.parse(error) });
  } else if (id !== undefined) send({ error: { code: -32601, message: "unknown method" } });
}
