import type { ModelEvent, ModelRequest } from "../../src/agent/models/model.ts";
import { mcpTool } from "../../src/agent/mcp/mcp-tool.ts";
import { readListedTool } from "../../src/agent/mcp/listed-tool.ts";
import type { Tool } from "../../src/agent/tools/tool.ts";
import type { ToolRegistry } from "../../src/agent/tools/tool-registry.ts";
import type { Json } from "../../src/lib/json.ts";
import type { TemplateConfig, TriplaneConfig } from "../../src/triplane.ts";
import { startTestApp, temporaryFolder, type TestApp } from "./app.ts";
import { connect, type TestClient } from "./client.ts";
import { testDatabaseUrl } from "./database.ts";
import { playedModel, says } from "./models.ts";

/**
 * A tool of the MCP server `gh`, with one text parameter, or with any for null; `ran` gets the inputs that it runs with.
 */
export function ghTool(name: string, description = `Does ${name}.`, parameter: string | null = "title", ran: Json[] = []): Tool {
  const inputSchema =
    parameter === null
      ? { type: "object" }
      : { type: "object", properties: { [parameter]: { type: "string" } }, required: [parameter], additionalProperties: false };
  const listed = readListedTool("gh", { name, description, inputSchema });
  if (!listed.ok) throw new Error(listed.refusal);
  const way = { kind: "http", url: "http://127.0.0.1", headers: {} } as const;
  const rest = { include: null, exclude: [], readOnlyTools: [], toolTimeoutMs: null, roots: "asked" } as const;
  const server = { name: "gh", way, variableValues: [], ...rest };
  return mcpTool(server, listed.value, async (_tool, args) => {
    ran.push(args);
    return { answer: { content: [{ type: "text", text: `${name} ran` }] }, process: null };
  });
}

type Player = (request: ModelRequest) => AsyncIterable<ModelEvent>;

/** True if the request answers a person: the newest message has no results. */
export function isNewTurn({ messages }: ModelRequest): boolean {
  return messages.at(-1)?.content.every(({ type }) => type !== "tool_result") === true;
}

/** The lines of the notes about tools in the newest message of a request, without the first. */
export function told({ messages }: ModelRequest): string {
  const texts = (messages.at(-1)?.content ?? []).flatMap((block) => (block.type === "text" ? [block.text] : []));
  const note = texts.find((text) => text.startsWith("[The Tools Manual has changed"));
  return note === undefined ? "" : note.slice(note.indexOf("\n\n") + 2);
}

/** The names of tools in a note, in its order. */
export function toldNames(request: ModelRequest): readonly string[] {
  return told(request)
    .split("\n")
    .flatMap((line) => (line.startsWith("#### ") ? [line.slice(5)] : []));
}

/** A place for servers of Triplane with one database, whose agents may have the tools of the MCP server `gh`. */
export async function ghPlace(player: Player = () => says("Done.")) {
  const database = { kind: "postgres", url: await testDatabaseUrl(), connections: 3 } as const;
  const workspace = await temporaryFolder();
  const model = playedModel(player);
  const start = async (
    template: Partial<TemplateConfig> = {},
    config: Partial<TriplaneConfig> = {},
    overrides: NonNullable<Parameters<typeof startTestApp>[0]>["overrides"] = {},
  ): Promise<{ app: TestApp; client: TestClient; tools: ToolRegistry }> => {
    const app = await startTestApp({
      database,
      model,
      overrides,
      template: { tools: ["fs_read", "mcp__gh__*"], permission: { mode: "auto", allow: ["mcp__gh__*"] }, ...template },
      config: { workspaceRoots: [workspace], defaultWorkspace: workspace, ...config },
    });
    return { app, client: connect(app.url), tools: app.services.of("local").tools };
  };
  const requests = () => model.calls.map(({ request }) => request);
  /** The part of each request before its messages, as text. */
  const heads = () => requests().map(({ system, tools }) => JSON.stringify({ system, tools }));
  return { start, requests, heads };
}
