import { serverIn, type Tool } from "../../tools/tool.ts";
import { readListedTool } from "../listed-tool.ts";
import { mcpTool } from "../mcp-tool.ts";
import type { McpServer } from "../server.ts";

const UNKNOWN: Omit<McpServer, "name"> = {
  way: { kind: "stdio", command: "", args: [], env: {}, cwd: "", sandbox: "none" },
  variableValues: [],
  include: null,
  exclude: [],
  readOnlyTools: [],
  roots: "asked",
  toolTimeoutMs: null,
};

/** The place of a tool whose server does not list it any more, or is gone: it checks nothing, and is not called. */
export function unlistedTool(name: string): Tool {
  const server = serverIn(name) ?? "";
  const listed = readListedTool(server, { name, inputSchema: { type: "object" } });
  if (!listed.ok) throw new Error(listed.refusal);
  return mcpTool({ ...UNKNOWN, name: server }, { ...listed.value, name }, () =>
    Promise.reject(new Error(`${name} is not listed`)),
  );
}
