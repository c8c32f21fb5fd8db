/**
 * A server of the older generation that keeps its tasks in memory. A task ends after so many ms, and its result names the
 * process. With a second argument, all processes use that id for their first task.
 */
import { createInterface } from "node:readline";

const [lastsMs = "2000", onlyId = ""] = process.argv.slice(2);
const tasks = new Map();
const stamp = new Date().toISOString();
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const told = (taskId, status) => ({
  taskId,
  status,
  ttl: 600_000,
  pollInterval: 1_000,
  createdAt: stamp,
  lastUpdatedAt: stamp,
});

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  const begun = tasks.get(params?.taskId);
  if (method === "initialize")
    send({
      id,
      result: {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {}, tasks: { cancel: {}, requests: { tools: { call: {} } } } },
        serverInfo: { name: "keeper", version: "1" },
      },
    });
  else if (method === "tools/list")
    send({
      id,
      result: { tools: [{ name: "work", inputSchema: { type: "object" }, execution: { taskSupport: "required" } }] },
    });
  else if (method === "tools/call") {
    const taskId = onlyId === "" ? `${process.pid}-${tasks.size}` : onlyId;
    tasks.set(taskId, Date.now());
    send({ id, result: { task: told(taskId, "working") } });
  } else if (method?.startsWith("tasks/") && begun === undefined)
    send({ id, error: { code: -32602, message: "Task not found" } });
  else if (method === "tasks/get")
    send({ id, result: told(params.taskId, Date.now() - begun > Number(lastsMs) ? "completed" : "working") });
  else if (method === "tasks/result") send({ id, result: { content: [{ type: "text", text: `found by ${process.pid}` }] } });
  else if (method === "tasks/cancel") {
    process.stderr.write(`cancelled ${params.taskId}\n`);
    send({ id, result: told(params.taskId, "cancelled") });
  } else if (id !== undefined) send({ id, error: { code: -32601, message: "unknown method" } });
}
