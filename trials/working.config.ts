import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { once } from "node:events";
import { defineTool } from "../src/agent/tools/tool.ts";
import { defineConfig } from "../src/config.ts";

const { TRIAL_FOLDER: folder = "", TRIAL_TOOL_SECONDS: seconds = "2" } = process.env;

/** Leaves a file for its first run and another for each further one, and waits for a program. */
const works = defineTool<Record<string, never>>({
  name: "works",
  description: "Works for a while.",
  readOnly: false,
  inputSchema: { type: "object", required: [], properties: {} },
  run: async (_input, { callId, start }) => {
    await writeFile(join(folder, `${callId}.run`), "", { flag: "wx" }).catch(() =>
      writeFile(join(folder, `${callId}.again.${process.pid}`), ""),
    );
    const child = start("sleep", [seconds]);
    await writeFile(join(folder, `${callId}.pid`), String(child.pid));
    await once(child, "exit");
    return { output: "done", details: null };
  },
});

/** Every message makes an agent call a tool that works for a while, and then say that it is done. */
export default defineConfig({
  models: {
    scripted: {
      provider: "scripted",
      script: {
        replies: [
          { when: { result: "works" }, say: ["Done."] },
          { when: {}, say: ["I begin."], call: [{ tool: "works", input: {} }] },
        ],
      },
    },
  },
  tools: [works],
  toolLimits: { running: 100 },
  templates: { trial: { model: "scripted", systemPrompt: "x", selfApproval: true, permission: { mode: "auto" } } },
});
