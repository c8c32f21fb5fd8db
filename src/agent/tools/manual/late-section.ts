import { isJsonObject, type JsonObject } from "../../../lib/json.ts";
import { byteLength, marked } from "../../../lib/text.ts";
import { toolSchema } from "../../models/tool-schema.ts";
import { PROMPT_BYTES } from "../limits.ts";
import { sectionText } from "./manual.ts";
import { BRIDGE, type Tool } from "../tool.ts";

/** The room for the definition of a tool in its section, in bytes. */
const DEFINITION_BYTES = PROMPT_BYTES - 1024;

/** The most of the description that remains if a definition is longer, in bytes. */
const DESCRIPTION_BYTES = 2 * 1024;

/**
 * The section of a tool that came or changed later. Its definition is one line of JSON: so the words of a server cannot look
 * like another section, or like a message of somebody else.
 */
export function lateSection(tool: Tool): string {
  const { name, server, prompt } = tool;
  const whose = server === null ? "Its definition" : `Its definition, in the words of the MCP server ${server}`;
  const call = `Call it with ${BRIDGE}: {"tool":${JSON.stringify(name)},"input":{…}}. ${whose}:`;
  return sectionText({ tool: name, text: [call, definitionLine(tool), ...(prompt === null ? [] : [prompt])].join("\n\n") });
}

function definitionLine({ description, inputSchema }: Tool): string {
  const schema = toolSchema(inputSchema);
  const whole = JSON.stringify({ description, inputSchema: schema });
  if (byteLength(whole) <= DEFINITION_BYTES) return whole;
  const short = marked(description, DESCRIPTION_BYTES, "the rest is left out");
  const fields = JSON.stringify({ description: short, inputSchema: fieldsOf(schema) });
  if (byteLength(fields) <= DEFINITION_BYTES)
    return `${fields}\n\nThe definition is too long to be shown. These are only the fields at its top. A call with a wrong input is answered with each problem and its path.`;
  return `${JSON.stringify({ description: short })}\n\nThe schema of its input is too long to be shown. A call with a wrong input is answered with each problem and its path.`;
}

function fieldsOf({ properties, required }: JsonObject): JsonObject {
  const fields = Object.entries(isJsonObject(properties) ? properties : {}).map(([name, field]) => {
    const type = isJsonObject(field) ? field["type"] : undefined;
    return [name, type === undefined ? {} : { type }] as const;
  });
  return { type: "object", properties: Object.fromEntries(fields), ...(required === undefined ? {} : { required }) };
}
