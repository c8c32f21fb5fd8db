import { setTimeout as delay } from "node:timers/promises";
import { defineConfig, defineTool } from "triplane";
import { noteRun } from "../run-once.ts";

const { TRIAL_NAME: name = "", TRIAL_WORKSPACE: workspace = "" } = process.env;

/** Writes to a file without end. */
const WRITES = "while :; do echo >> {{file}}; sleep 0.01; done";

/** Notes that it runs, and takes its time. */
const effect = defineTool<Record<string, never>>({
  name: "effect",
  description: "Has an effect.",
  readOnly: false,
  inputSchema: { type: "object", required: [], properties: {} },
  run: async (_input, { callId, signal }) => {
    await noteRun(callId);
    await delay(200, undefined, { signal });
    return { output: "done", details: null };
  },
});

/** Speaks for a second, with the name of the server that speaks in every word, and calls the tool, again and again. */
export default defineConfig({
  models: {
    scripted: {
      provider: "scripted",
      script: {
        pace: { characters: 10, delayMs: 20 },
        replies: [
          {
            when: { user: "start (?<file>shell-\\d+)" },
            call: [{ tool: "bash_run", input: { command: WRITES, background: true } }],
          },
          { when: { user: "start (?<file>program-\\d+)" }, call: [{ tool: "bash_run", input: { command: WRITES } }] },
          { when: { result: "bash_run" }, say: ["Done."] },
          { when: {}, say: [`<${name}>`.padEnd(10, ".").repeat(50)], call: [{ tool: "effect", input: {} }] },
        ],
      },
    },
  },
  tools: [effect],
  workspaceRoots: [workspace],
  defaultWorkspace: workspace,
  templates: {
    trial: { model: "scripted", systemPrompt: "x", selfApproval: true, permission: { mode: "auto" }, maxSteps: 1_000 },
  },
});
