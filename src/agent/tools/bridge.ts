import { Type } from "typebox";
import { mapStrings, type JsonObject } from "../../lib/json.ts";
import { refused } from "../../lib/result.ts";
import { storable } from "../../lib/text.ts";
import type { ToolDescription } from "../models/model.ts";
import { MANUAL_CHANGED } from "./manual/manual-changes.ts";
import { BRIDGE, optional, toolOf, type Tool } from "./tool.ts";

/** The longest name of a tool in a call, in characters. */
const NAME_CHARACTERS = 200;

const form = toolOf({
  name: "bridge",
  description: `Calls a tool that came or changed after this conversation had begun. A message that begins with "${MANUAL_CHANGED}" describes such tools. Call all other tools directly.`,
  readOnly: true,
  aliases: { name: "tool", tool_name: "tool", arguments: "input", parameters: "input" },
  inputSchema: Type.Object({
    tool: Type.String({ minLength: 1, maxLength: NAME_CHARACTERS, description: "The name of the tool." }),
    input: optional(
      Type.Object(
        {},
        { additionalProperties: true, description: "The input of that tool: an object of the form of its schema." },
      ),
    ),
  }),
  run: () => "",
});

/** The form of a call by the bridge. */
export const BRIDGE_FORM: Pick<Tool, "aliases" | "bind"> = form;

/**
 * The tool by which an agent calls those that came later than its list of tools. It never runs: a call of the right form becomes
 * one of the tool that it names (`throughBridge`), and each other call is refused.
 */
export const BRIDGE_TOOL: Tool = {
  ...form,
  name: BRIDGE,
  source: "BUILTIN",
  bind(input) {
    const bound = form.bind(input);
    if (!bound.ok) return bound;
    return refused([{ path: "/tool", message: "must be the name of another tool", value: bound.value.input["tool"] }]);
  },
};

/** The list that is fixed for an agent that has these tools, as its row holds it. */
export function offeredList(tools: readonly Tool[]): readonly ToolDescription[] {
  return [...tools, BRIDGE_TOOL].map(descriptionOf);
}

const described = new WeakMap<Tool, ToolDescription>();

function descriptionOf(tool: Tool): ToolDescription {
  const { name, description, inputSchema } = tool;
  const known = described.get(tool) ?? {
    name,
    description: storable(description),
    inputSchema: mapStrings(inputSchema, storable) as JsonObject,
  };
  described.set(tool, known);
  return known;
}
