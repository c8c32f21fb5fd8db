// A server that answers, and then sends what its first argument says without end: "ping" requests, whose answers it never reads.
import { createInterface } from "node:readline";
const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const { id, method } = JSON.parse(line);
  const send = (m) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...m })}\n`);
  if (method === "initialize")
    send({ result: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "f", version: "1" } } });
  else if (method === "tools/list") {
    send({ result: { tools: [{ name: "work", inputSchema: { type: "object" } }] } });
    lines.close();
    process.stdin.pause();
    let n = 0;
    const flood = () => {
      for (;;) {
        const many = Array.from({ length: 500 }, () =>
          JSON.stringify({ jsonrpc: "2.0", id: `p${(n += 1)}`, method: "ping" }),
        ).join("\n");
        if (!process.stdout.write(`${many}\n`)) return void process.stdout.once("drain", flood);
      }
    };
    flood();
  } else if (id !== undefined && id !== null) send({ error: { code: -32601, message: "unknown method" } });
});
