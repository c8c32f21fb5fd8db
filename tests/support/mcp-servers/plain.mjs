// A server without the SDK: it answers each method as its first argument, JSON, says. A list is one answer after the other, the last one
// again and again. Words in the place of an answer: "silent", "exit", { "bytes": n } for an answer of that size, { "raw": {} } for a message as it is.
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";

const script = JSON.parse(process.argv[2] ?? "{}");
const defaults = {
  initialize: {
    protocolVersion: "2025-06-18",
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: "plain", version: "1" },
  },
  "tools/list": { tools: [{ name: "work", inputSchema: { type: "object" } }] },
  "tools/call": { content: [{ type: "text", text: "done" }] },
  ping: {},
};
const times = {};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (script.stderr !== undefined) process.stderr.write(`${script.stderr}\n`);
  const given = script[method];
  const answers = Array.isArray(given) ? given : [given ?? defaults[method]];
  const count = (times[method] = (times[method] ?? 0) + 1);
  const answer = answers[Math.min(count, answers.length) - 1];
  if (answer === "exit") process.exit(3);
  if (id === undefined || answer === "silent") continue;
  const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  for (const notification of answer?.first ?? []) send(notification);
  if (answer === undefined) send({ id, error: { code: -32601, message: "unknown method" } });
  else if (answer.bytes !== undefined) send({ id, result: { content: [{ type: "text", text: "x".repeat(answer.bytes) }] } });
  else if (answer.raw !== undefined) process.stdout.write(`${JSON.stringify({ id, ...answer.raw })}\n`);
  else if (answer.fork === true) {
    const { pid } = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
    send({ id, result: { content: [{ type: "text", text: String(pid) }] } });
  } else if (answer.read !== undefined) {
    const text = await readFile(answer.read, "utf8").catch(({ code }) => code);
    send({ id, result: { content: [{ type: "text", text }] } });
  } else if (answer.error !== undefined) send({ id, error: answer.error });
  else if (answer.echo !== undefined)
    send({ id, result: { content: [{ type: "text", text: JSON.stringify({ params, env: process.env, cwd: process.cwd() }) }] } });
  else send({ id, result: answer.result ?? answer });
}
