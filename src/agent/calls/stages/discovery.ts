import type { Json } from "../../../lib/json.ts";
import { accepted, refused, type Result } from "../../../lib/result.ts";
import type { Tool } from "../../tools/tool.ts";
import type { Refusal } from "../refusals/refusal.ts";

/** A call as the model asked for it. `input` is the parsed arguments, or `text` what is no usable JSON, with the reason. */
export type Requested = { readonly tenant: string; readonly agentId: string; readonly callId: string; readonly name: string } & (
  { readonly form: "json"; readonly input: Json } | { readonly form: "unparsed"; readonly text: string; readonly problem: string }
);

/** A call whose tool is known. */
export type Discovered = { readonly request: Requested; readonly tool: Tool };

/** All tools of the server, and which of them the agent has. */
export type Toolbox = { readonly all: ReadonlyMap<string, Tool>; readonly enabled: ReadonlyMap<string, Tool> };

/** Stage 1: is there such a tool, and does the agent have it? */
export function discover(request: Requested, toolbox: Toolbox): Result<Discovered, Refusal> {
  const tool = toolbox.enabled.get(request.name);
  if (tool !== undefined) return accepted({ request, tool });
  const available = [...toolbox.enabled.keys()];
  return refused({
    type: toolbox.all.has(request.name) ? "disabled" : "not_found",
    stage: "discovery",
    name: request.name,
    available,
  });
}

/** The tools of the server, and those of them that a template's agents have. */
export function toolboxOf(all: ReadonlyMap<string, Tool>, template: { readonly tools: readonly string[] | null }): Toolbox {
  const names = template.tools;
  return { all, enabled: names === null ? all : new Map([...all].filter(([name]) => names.includes(name))) };
}
