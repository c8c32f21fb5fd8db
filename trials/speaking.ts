import { createHash } from "node:crypto";
import type { Script, TriplaneConfig } from "triplane";
import { TRIAL_TOKEN } from "./processes.ts";

/**
 * The model, the actor and the workspaces of a configuration whose every message is a turn: 20 deltas over 4 s, one call
 * of the tool `looks`, an answer. The model tries `replies` before its own.
 */
export function speaking(replies: Script["replies"]) {
  return {
    models: {
      scripted: {
        provider: "scripted",
        script: {
          pace: { characters: 5, delayMs: 200 },
          replies: [
            ...replies,
            { when: { result: "looks" }, say: ["Done."] },
            {
              when: {},
              say: ["I look at it, and say meanwhile what I look at: one word after the other, as models like to do it."],
              call: [{ tool: "looks", input: {} }],
            },
          ],
        },
      },
    },
    actors: [
      { id: "local", tokenHash: createHash("sha256").update(TRIAL_TOKEN).digest("hex"), tenant: "local", roles: ["admin"] },
    ],
    workspaceRoots: [process.env["TRIPLANE_DATA_DIR"] ?? "."],
  } satisfies Omit<TriplaneConfig, "templates">;
}
