import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Tool, defineConfig, defineTool } from "triplane";
import { noteRun } from "../run-once.ts";
import { isHeldAt, say } from "./points.ts";

const folder = process.env["TRIAL_FOLDER"] ?? "";
/** The fault: a tool that has effects says that it may run twice. */
const isPlanted = process.env["TRIAL_FAULT"] === "repeats";

/**
 * A tool that notes that it runs, and runs a program. An answer that calls one with a hook is stored before it is judged;
 * else it is stored with the start of its calls.
 */
function effect(name: string, isHooked: boolean): Tool {
  return defineTool<Record<string, never>>({
    name,
    description: "Has an effect.",
    readOnly: false,
    idempotent: isPlanted,
    hooks: { preToolUse: isHooked ? [() => undefined] : [] },
    inputSchema: { type: "object", required: [], properties: {} },
    run: async (_input, { agentId, callId, start }) => {
      await noteRun(callId);
      const child = await start("sleep", ["60"]);
      await writeFile(join(folder, `${callId}.pid`), String(child.pid));
      if (isHeldAt(agentId, "child running")) {
        say(agentId);
        await new Promise(() => {});
      }
      child.kill("SIGKILL");
      await once(child, "exit");
      if (isHeldAt(agentId, "child ended")) {
        say(agentId);
        await new Promise(() => {});
      }
      return { output: "done", details: null };
    },
  });
}

/** `auto` and `hooked` call a tool that runs at once, `ask` one that asks, `stream` only speaks, and `many` asks for ten calls. */
export default defineConfig({
  models: {
    scripted: {
      provider: "scripted",
      script: {
        pace: { characters: 4, delayMs: 20 },
        replies: [
          { when: { user: "^auto$" }, call: [{ tool: "effect", input: {} }] },
          { when: { user: "^hooked$" }, call: [{ tool: "hooked", input: {} }] },
          { when: { user: "^ask$" }, call: [{ tool: "asked", input: {} }] },
          { when: { user: "^many$" }, call: Array.from({ length: 10 }, () => ({ tool: "asked", input: {} })) },
          { when: { user: "^stream$" }, say: ["words and words. ".repeat(30)] },
          { when: {}, say: ["Done."] },
        ],
      },
    },
  },
  tools: [effect("effect", false), effect("hooked", true), effect("asked", true)],
  templates: {
    trial: {
      model: "scripted",
      systemPrompt: "x",
      selfApproval: true,
      permission: { mode: "auto", requireApprovalTools: ["asked"] },
    },
  },
});
