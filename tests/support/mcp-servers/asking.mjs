// A server of the older generation without the SDK: each call of `work` asks the client `ask`, the parameters of
// elicitation/create (a list: one after the other), and answers with all that it was answered, as JSON. `withdraw`: it withdraws
// each question after so many ms; `sampling`, `roots`: it asks for that first; `exitAfterMs`: it ends;
// `fails`: the call fails without a reason.
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";

let asked = 0;
const open = new Map();
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

function ask(method, params) {
  asked += 1;
  const id = `q${asked}`;
  send({ id, method, params });
  return { id, answer: new Promise((resolve) => open.set(id, resolve)) };
}

async function work({ ask: questions = [], withdraw, sampling, roots, exitAfterMs }) {
  if (exitAfterMs !== undefined) void setTimeout(exitAfterMs).then(() => process.exit(3));
  const answers = [];
  if (sampling) answers.push(await ask("sampling/createMessage", { messages: [], maxTokens: 1 }).answer);
  if (roots) await ask("roots/list", {}).answer;
  for (const params of [questions].flat()) {
    const { id, answer } = ask("elicitation/create", params);
    if (withdraw !== undefined) {
      await setTimeout(withdraw);
      send({ method: "notifications/cancelled", params: { requestId: id, reason: "it was decided otherwise" } });
      answers.push("withdrawn");
    } else answers.push(await answer);
  }
  return JSON.stringify(answers);
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params, result, error } = JSON.parse(line);
  if (method === undefined) {
    open.get(id)?.(result ?? { error: error.message });
    continue;
  }
  switch (method) {
    case "initialize":
      send({
        id,
        result: {
          protocolVersion: "2025-11-25",
          capabilities: { tools: {} },
          serverInfo: { name: "asking", version: JSON.stringify(params.capabilities) },
        },
      });
      break;
    case "tools/list":
      send({ id, result: { tools: [{ name: "work", inputSchema: { type: "object" } }] } });
      break;
    case "tools/call": {
      const isError = params.arguments.fails === true;
      const answer = (text) => send({ id, result: { isError, content: [{ type: "text", text: isError ? "failed" : text }] } });
      void work(params.arguments).then(answer);
      break;
    }
    case "notifications/roots/list_changed":
      ask("roots/list", {});
      break;
    default:
      if (id !== undefined) send({ id, error: { code: -32601, message: "unknown method" } });
  }
}
