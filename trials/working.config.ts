import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { once } from "node:events";
import { defineConfig, defineTool } from "triplane";
import { noteRun } from "./run-once.ts";

const { TRIAL_FOLDER: folder = "", TRIAL_TOOL_SECONDS: seconds = "2" } = process.env;

/** Notes that it runs, and waits for a program that leaves another behind. */
const works = defineTool<Record<string, never>>({
  name: "works",
  description: "Works for a while.",
  readOnly: false,
  inputSchema: { type: "object", required: [], properties: {} },
  run: async (_input, { callId, start }) => {
    await noteRun(callId);
    // Its companion would outlive it.
    const child = await start("sh", ["-c", `sleep 600 > /dev/null & echo $!; exec sleep ${seconds}`]);
    const ended = once(child, "exit");
    const [companion] = (await once(child.stdout, "data")) as [Buffer];
    await writeFile(join(folder, `${callId}.pid`), companion.toString().trim());
    await ended;
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
