import { isJsonObject, mapStrings, someString, type Json } from "../../../lib/json.ts";
import { accepted, refused, type Result } from "../../../lib/result.ts";
import { byteLength, storable } from "../../../lib/text.ts";
import { BRIDGE_FORM, BRIDGE_TOOL } from "../../tools/bridge.ts";
import { INCOMPARABLE, type ValidationIssue } from "../../tools/input-schema.ts";
import { INPUT_BYTES } from "../../tools/limits.ts";
import { MEMORY_TOOL } from "../../tools/memory/memory.ts";
import { BRIDGE, isOfServerTools, serverIn, type BoundCall, type Tool } from "../../tools/tool.ts";
import type { ToolRegistry } from "../../tools/tool-registry.ts";
import type { Refusal } from "../refusals/refusal.ts";

/** A call as the model asked for it. `input` is the parsed arguments, or `text` what is no usable JSON, with the reason. */
export type Requested = { readonly tenant: string; readonly agentId: string; readonly callId: string; readonly name: string } & (
  { readonly form: "json"; readonly input: Json } | { readonly form: "unparsed"; readonly text: string; readonly problem: string }
);

/** A call whose tool is known. */
export type Discovered = { readonly request: Requested; readonly tool: Tool };

/** All tools of the server, and those of them that the agent has, whether they are available or not. */
export type Toolbox = {
  readonly all: ReadonlyMap<string, Tool>;
  readonly enabled: ReadonlyMap<string, Tool>;
  /** True for a tool that the agent has if it is there. */
  readonly has: (tool: Pick<Tool, "name" | "server" | "source">) => boolean;
  /** True for an agent whose list of tools is fixed: it calls later ones by the bridge. */
  readonly hasBridge?: boolean;
};

/** The reasons why MCP servers are away. */
type ServerReasons = Pick<ToolRegistry, "serverReason">;

/**
 * Stage 1: is there such a tool, and does the agent have it? A tool that is not known, of an MCP server that is away,
 * counts as unavailable.
 */
export function discover(request: Requested, toolbox: Toolbox, reasons: ServerReasons): Result<Discovered, Refusal> {
  const { name } = request;
  const tool = name === BRIDGE && toolbox.hasBridge === true ? BRIDGE_TOOL : toolbox.enabled.get(name);
  if (tool?.unavailable === null) return accepted({ request, tool });
  const available = offered(toolbox).map((each) => each.name);
  const isKnown = toolbox.all.has(name);
  const reason = isKnown ? (tool?.unavailable ?? null) : awayReason(name, toolbox, reasons);
  if (!isKnown && reason === null) return refused({ type: "not_found", stage: "discovery", name, available });
  return refused({ type: "disabled", stage: "discovery", name, available, reason });
}

function awayReason(name: string, { has }: Toolbox, reasons: ServerReasons): string | null {
  const server = serverIn(name);
  return server !== null && has({ name, server, source: "MCP" }) ? reasons.serverReason(server) : null;
}

/** The tools of an agent that its model is offered. */
export function offered({ enabled }: Pick<Toolbox, "enabled">): readonly Tool[] {
  return [...enabled.values()].filter(({ unavailable }) => unavailable === null);
}

export type ToolSettings = {
  readonly tools: readonly string[] | null;
  readonly clientTools: Readonly<Record<string, object>>;
  readonly subagents: object | null;
  readonly memory: object | null;
};

/** Only agents that may start others have it. */
const TASK_RUN = "task_run";

/**
 * The tools of the server, and those of them that a template's agents have: `mcp__server__*` are all of an MCP server.
 * Client tools belong to their templates.
 */
export function toolboxOf(all: ReadonlyMap<string, Tool>, { tools, clientTools, subagents, memory }: ToolSettings): Toolbox {
  const has: Toolbox["has"] = ({ name, server, source }) => {
    if (source === "CLIENT") return Object.hasOwn(clientTools, name);
    if ((name === TASK_RUN && subagents === null) || (name === MEMORY_TOOL && memory === null)) return false;
    return tools === null || tools.includes(name) || (server !== null && tools.includes(`mcp__${server}__*`));
  };
  return { all, enabled: new Map([...all].filter(([, tool]) => has(tool))), has };
}

/** True if an agent may be given tools later: those of MCP servers come and go. */
export function mayComeLater({ tools }: Pick<ToolSettings, "tools">, { hasServers }: Pick<ToolRegistry, "hasServers">): boolean {
  return tools === null ? hasServers : tools.some(isOfServerTools);
}

/** A call as a model asks for it. */
type AskedCall = { readonly name: string; readonly input: Json };

/** The call for which one by the bridge stands: that of the tool that it names. Null for other calls, and for one of a wrong form. */
export function throughBridge({ name, input }: AskedCall): AskedCall | null {
  const bound = name === BRIDGE ? BRIDGE_FORM.bind(withoutAliases(input, BRIDGE_FORM)) : null;
  if (bound?.ok !== true) return null;
  const { tool, input: inner } = bound.value.input;
  if (typeof tool !== "string" || tool === BRIDGE) return null;
  return { name: storable(tool), input: isJsonObject(inner) ? inner : {} };
}

/** A call whose input fits its tool. `bound.input`, with defaults applied, is what is judged, shown, hashed and run. */
export type Validated = Discovered & { readonly bound: BoundCall };

/** Stage 2: do the arguments fit the tool's schema? Lone surrogates in them are replaced. */
export function validate(discovered: Discovered): Result<Validated, Refusal> {
  const { request, tool } = discovered;
  const invalid = (issues: readonly ValidationIssue[]): Result<never, Refusal> =>
    refused({
      type: "invalid_params",
      stage: "validation",
      name: tool.name,
      issues,
      input: request.form === "json" ? request.input : request.text,
      schema: tool.inputSchema,
      within: "",
      repeats: 0,
    });
  if (request.form === "unparsed") return invalid([{ path: "/", message: request.problem, value: request.text }]);
  const bytes = byteLength(JSON.stringify(request.input));
  if (bytes > INPUT_BYTES) return invalid([{ path: "/", message: `must not be larger than ${INPUT_BYTES} bytes`, value: bytes }]);
  if (someString(request.input, (text) => text.includes("\0")))
    return invalid([{ path: "/", message: "must not contain NUL", value: undefined }]);
  const bound = boundTo(
    tool,
    mapStrings(withoutAliases(request.input, tool), (text) => text.toWellFormed()),
  );
  return bound.ok ? accepted({ ...discovered, bound: bound.value }) : invalid(bound.refusal);
}

/** Refuses an input that ajv cannot compare, as `valueIssues` does. */
function boundTo(tool: Tool, input: Json): ReturnType<Tool["bind"]> {
  try {
    return tool.bind(input);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return refused([INCOMPARABLE]);
  }
}

/** The input with the names of the schema. An alias next to its name stays: it is refused as unknown. */
function withoutAliases(input: Json, { aliases }: Pick<Tool, "aliases">): Json {
  if (!isJsonObject(input) || !Object.keys(input).some((name) => Object.hasOwn(aliases, name))) return input;
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => {
      const main = Object.hasOwn(aliases, name) ? aliases[name] : undefined;
      return [main === undefined || Object.hasOwn(input, main) ? name : main, value];
    }),
  );
}
