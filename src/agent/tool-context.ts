import { toJson, type Json } from "../lib/json.ts";
import { byteLength, headBytes } from "../lib/text.ts";
import { guardedWorkspace } from "./agent-workspace.ts";
import type { Policy } from "./gate/policy.ts";
import type { Hold } from "./hold.ts";
import type { Look } from "./look.ts";
import type { AgentParts } from "./parts.ts";
import { todoList } from "./todo-list.ts";
import type { ToolContext } from "./tools/tool.ts";

/** The largest data of one TOOL_CUSTOM_EVENT, in bytes of JSON. */
const CUSTOM_EVENT_BYTES = 16 * 1024;

/** Which call a context is for; when `ended` aborts, nothing of it has an effect any more. */
export type CallScope = {
  readonly callId: string;
  readonly toolName: string;
  readonly ended: AbortSignal;
  readonly policy: Policy;
  /** Counts what the tool emitted beyond its agent's share of the room, since it did not wait. */
  readonly leftOut: { events: number };
};

/** What a tool may use while it runs, still without its signal. */
export function toolContext(
  parts: AgentParts,
  agent: Look,
  hold: Hold,
  { callId, toolName, ended, policy, leftOut }: CallScope,
): Omit<ToolContext, "signal"> {
  const workspace = guardedWorkspace(parts, agent.workspace, policy);
  /** One wait for all that a tool emits meanwhile: one that waits for none of it may emit without end. */
  let room: Promise<void> | null = null;
  return {
    agentId: agent.id,
    callId,
    workspace,
    start: (file, args, options = {}) => {
      if (ended.aborted) throw new Error("the call has ended: nothing is started for it any more");
      const group = parts.groups.start(file, args, {
        folder: options.folder === undefined ? workspace.root : workspace.resolve(options.folder),
        env: { ...inherited(), ...options.env },
      });
      ended.addEventListener("abort", () => group.end(), { once: true });
      return group.process;
    },
    todos: todoList(parts.sql, agent, hold, ended),
    emit: (eventType, eventData) => {
      if (ended.aborted) return Promise.resolve();
      if (hold.isFull) leftOut.events += 1;
      else
        hold.send({
          kind: "TOOL_CUSTOM_EVENT",
          callId,
          toolName,
          eventType: headBytes(eventType, 200),
          eventData: customData(eventData),
        });
      if (!hold.isFull) return Promise.resolve();
      room ??= hold.room(ended).finally(() => (room = null));
      return room;
    },
  };
}

function customData(eventData: unknown): Json {
  const json = toJson(eventData) ?? null;
  const text = JSON.stringify(json);
  return byteLength(text) > CUSTOM_EVENT_BYTES ? { truncated: true, preview: headBytes(text, CUSTOM_EVENT_BYTES / 4) } : json;
}

/** What a program needs of the server's environment, and nothing that could be a secret (invariant 11). */
function inherited(): Record<string, string> {
  const names = ["PATH", "LANG", "TZ", "TMPDIR"];
  return Object.fromEntries(names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
}
