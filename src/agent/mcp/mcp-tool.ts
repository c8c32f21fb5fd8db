import { isJsonObject, type JsonObject } from "../../lib/json.ts";
import { accepted, refused } from "../../lib/result.ts";
import { Later } from "../tools/later.ts";
import type { Risk, Tool } from "../tools/tool.ts";
import { AnswerKept, NeedsInput } from "../tools/question.ts";
import type { ToolContext } from "../tools/tool-context.ts";
import type { CallProgress, CallTool } from "./call.ts";
import { toolResultOf } from "./call-result.ts";
import type { ListedTool } from "./listed-tool.ts";
import { NotSent } from "./lost-call.ts";
import { schemaCheck, type SchemaCheck } from "./schema-check.ts";
import { withoutTokens, type McpServer } from "./server.ts";
import { startedTask } from "./tasks/task.ts";

/**
 * The tool of a server as the gate knows it. The operator says that it is read-only (`readOnlyTools`); its own annotations can
 * only say that it is not.
 */
export function mcpTool(configured: McpServer, listed: ListedTool, call: CallTool): Tool {
  const { name: server, readOnlyTools, toolTimeoutMs } = configured;
  const { name, ownName, description, inputSchema, outputSchema, annotations } = listed;
  const isDestructive = annotations["destructiveHint"] === true;
  const readOnly = readOnlyTools.includes(ownName) && annotations["readOnlyHint"] !== false && !isDestructive;
  const check = schemaCheck(inputSchema);
  const structureCheck = structureCheckOf(outputSchema);
  return {
    name,
    source: "MCP",
    server,
    unavailable: null,
    description,
    prompt: null,
    inputSchema,
    aliases: {},
    readOnly,
    idempotent: false,
    cacheable: false,
    timeoutMs: toolTimeoutMs,
    definition: { text: listed.canonical, digest: listed.digest },
    reads: null,
    seenByRules: null,
    paths: {},
    commands: {},
    risk: riskOf(readOnly, isDestructive),
    completedBy: [],
    outputSchema: null,
    resultIssues: () => [],
    keeps: "head",
    hooks: { preToolUse: [], postToolUse: [] },
    code: [],
    bind(input) {
      const issues = check(input);
      if (issues.length > 0) return refused(issues);
      if (!isJsonObject(input)) return refused([{ path: "/", message: "must be object", value: input }]);
      const run = async (context: ToolContext) => {
        const { agentId, workspace, signal, answered } = context;
        const { askPerson, explained } = toldOfRefusals(context);
        try {
          const by = { agentId, root: workspace.root, signal, answered, askPerson };
          const { answer: result, process } = await call(listed, input, by, teller(context));
          if (result instanceof NeedsInput) return result;
          const task = startedTask(result, process);
          return task === null ? toolResultOf(withoutTokens(configured, result), structureCheck) : new Later(null, task);
        } catch (error) {
          if (answered !== null && error instanceof NotSent) return new AnswerKept(server, error.message, error.afterMs);
          throw explained(error);
        }
      };
      return accepted({ input, run, preview: null });
    },
  };
}

type Told = Pick<ToolContext, "askPerson"> & { readonly explained: (error: unknown) => unknown };

/** Adds to the error of a call that a person declined a question of its tool: the server may say only that it failed. */
function toldOfRefusals({ answered, askPerson, signal }: ToolContext): Told {
  let last = answered?.answer.action === "decline" ? answered.answer : null;
  return {
    askPerson: async (question, withdrawn) => {
      const answer = await askPerson(question, withdrawn);
      if (answer.action === "decline") last = answer;
      return answer;
    },
    explained: (error) => {
      if (last === null || signal.aborted || !(error instanceof Error)) return error;
      return new Error(`${error.message}\n${declinedQuestion(last.note)}`, { cause: error });
    },
  };
}

export function declinedQuestion(note: string | null): string {
  return `A person declined its question${note === null ? "" : ` and noted: ${note}`}`;
}

/** The check of a structured content; null without a schema. */
export function structureCheckOf(outputSchema: JsonObject | null): SchemaCheck | null {
  return outputSchema === null ? null : schemaCheck(outputSchema);
}

function riskOf(readOnly: boolean, isDestructive: boolean): Risk {
  if (isDestructive) return "HIGH";
  return readOnly ? "LOW" : "MEDIUM";
}

/** Emits progress as events of the call; while there is no room for one, further ones are left out. */
function teller({ emit }: ToolContext): (progress: CallProgress) => void {
  let isWaiting = false;
  return ({ progress, total = null, message = null }) => {
    if (isWaiting) return;
    isWaiting = true;
    emit("mcp_progress", { progress, total, message })
      .catch(() => {})
      .finally(() => (isWaiting = false));
  };
}
