import { Type } from "typebox";
import type { JsonObject } from "../../lib/json.ts";
import { defineTool, optional } from "./tool.ts";
import { ChildStarted } from "./child.ts";

/** The longest prompt and context of a child, in characters. */
const PROMPT = 200_000;

export const taskRun = defineTool({
  name: "task_run",
  description:
    "Starts another agent on a task of its own, and answers with its result. It sees `prompt` and `context`, not this conversation: say all that it needs, and the answer that you expect. Several calls in one answer run concurrently. With `background`, the answer is only a receipt: you are told when it has ended.",
  readOnly: true,
  // A call that broke off has started none: the wait for the child is a part of its end.
  idempotent: true,
  aliases: { subagent_type: "agentTemplateId", model_name: "model" },
  inputSchema: Type.Object({
    description: Type.String({ minLength: 1, maxLength: 200, description: "The task in a few words, for people." }),
    prompt: Type.String({ minLength: 1, maxLength: PROMPT, description: "The task, as the other agent reads it." }),
    agentTemplateId: Type.String({ minLength: 1, description: "The kind of agent that does it." }),
    context: optional(Type.String({ maxLength: PROMPT, description: "Facts that it needs, in addition to the prompt." })),
    model: optional(Type.String({ minLength: 1, description: "The name of a model; that of its kind if omitted." })),
    outputSchema: optional(
      Type.Unsafe<JsonObject>({ type: "object", description: "A JSON Schema of an object: its answer is JSON of this form." }),
    ),
    background: optional(Type.Boolean({ description: "True to continue meanwhile." })),
  }),
  async run({ description, agentTemplateId: templateId, model, outputSchema, background }, { startChild }) {
    const shape = { outputSchema: outputSchema ?? null };
    const request = { description, templateId, model: model ?? null, ...shape, isBackground: background ?? false };
    return new ChildStarted(await startChild(request));
  },
});
