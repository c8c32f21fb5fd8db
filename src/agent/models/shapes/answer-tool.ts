import type { JsonObject } from "../../../lib/json.ts";
import type { ModelEvent, ToolDescription } from "../model.ts";
import type { ModelCallSettings } from "../model-settings.ts";
import { toolSchema } from "../tool-schema.ts";

/** The tool by which a model answers in a shape, if its provider cannot enforce one: the schema is its input. */
export type AnswerTool = {
  readonly description: ToolDescription;
  /** True if the agent has no other tool: the model can be made to call this one. */
  readonly isOnly: boolean;
};

const DESCRIPTION = "Gives the final answer, in the form that was asked for. Call it once, alone, when the task is done.";

/** Its name is one that no tool of the agent has. No agent can call it otherwise. */
export function answerTool(schema: JsonObject, tools: readonly ToolDescription[]): AnswerTool {
  let name = "answer";
  for (let count = 2; tools.some((tool) => tool.name === name); count += 1) name = `answer_${count}`;
  return { description: { name, description: DESCRIPTION, inputSchema: toolSchema(schema) }, isOnly: tools.length === 0 };
}

/** The choice of a tool that makes the model answer by the tool, or call another tool first. */
export function choiceWith(tool: AnswerTool, choice: ModelCallSettings["toolChoice"]): ModelCallSettings["toolChoice"] {
  if (typeof choice === "object" && choice !== null) return choice;
  return tool.isOnly || choice === "none" ? { tool: tool.description.name } : "required";
}

/**
 * The answer with the input of the answer tool as text, whole at its end. Calls of other tools run all the same:
 * then the answer is not the last one.
 */
export async function* inPlainText(events: AsyncIterable<ModelEvent>, tool: AnswerTool | null): AsyncGenerator<ModelEvent> {
  if (tool === null) {
    yield* events;
    return;
  }
  let calls = 0;
  let answers = 0;
  for await (const event of events) {
    if (event.type === "tool_use" && event.name === tool.description.name) {
      answers += 1;
      yield { type: "text_start", block: event.block };
      yield { type: "text_delta", block: event.block, text: event.arguments };
    } else if (event.type === "end" && event.stopReason === "tool_use" && answers > 0 && calls === 0)
      yield { ...event, stopReason: "end_turn" };
    else {
      if (event.type === "tool_use") calls += 1;
      yield event;
    }
  }
}
