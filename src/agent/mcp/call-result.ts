import { isJsonObject, type Json, type JsonObject } from "../../lib/json.ts";
import { byteLength, headBytes, withoutEnd } from "../../lib/text.ts";
import { readImages } from "../tools/images.ts";
import type { ToolResult } from "../tools/tool-result.ts";
import type { SchemaCheck } from "./schema-check.ts";

/** The tool of a server reports that a call failed: its text is for the model. */
export class ToolReportedError extends Error {
  override readonly name = "ToolReportedError";
}

/** The longest text of an error, in bytes. */
const ERROR_BYTES = 8 * 1024;

/**
 * The result of a server's tool as text and images for the model, and as JSON for programs. Each image, sound and resource has a
 * line with its type and size; the JSON omits their bytes. Throws ToolReportedError if the server says that the call
 * failed.
 */
export function toolResultOf(result: JsonObject, structureCheck: SchemaCheck | null): ToolResult {
  const { structuredContent, isError } = result;
  const content = contentOf(result["content"]);
  const lines = content.map(blockText);
  if (isError === true) throw new ToolReportedError(headBytes(lines.join("\n"), ERROR_BYTES) || "the tool reports an error");
  const structured = structuredContent ?? null;
  const shown = lines.length === 0 && structured !== null ? [JSON.stringify(structured)] : lines;
  const issues = structured === null ? [] : (structureCheck?.(structured) ?? []);
  const notes = issues
    .slice(0, 1)
    .map(({ path, message }) => `(Its structured content is not of the form that the server declares: ${path} ${message}.)`);
  const output = [...shown, ...notes].join("\n");
  const { images, leftOut } = readImages(content.flatMap(imageOf));
  return {
    output: [output, ...leftOut].join("\n") || "(no content)",
    details: { content: content.map(blockDetails), structuredContent: structured },
    ...(images.length > 0 && { images }),
  };
}

/** The blocks of a result; a text in their place is one of them. */
function contentOf(content: Json | undefined): readonly Json[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? (content as readonly Json[]) : [];
}

/** The image of a block, or of the resource in it, as the server says it. */
function imageOf(block: Json): readonly Json[] {
  if (!isJsonObject(block)) return [];
  const { type, mimeType = null, data = null, resource } = block;
  if (type === "image") return [{ mediaType: typeOf(mimeType), data: plain(data) }];
  if (type !== "resource" || !isJsonObject(resource)) return [];
  const mediaType = typeOf(resource["mimeType"] ?? null);
  const isImage = typeof mediaType === "string" && mediaType.startsWith("image/");
  return isImage && typeof resource["blob"] === "string" ? [{ mediaType, data: plain(resource["blob"]) }] : [];
}

/** The type without parameters, in lower case; the usual mistake for JPEG is mended. */
function typeOf(mimeType: Json): Json {
  if (typeof mimeType !== "string") return mimeType;
  const type = (mimeType.split(";", 1)[0] ?? "").trim().toLowerCase();
  return type === "image/jpg" ? "image/jpeg" : type;
}

/** Base64 as RFC 4648 writes it: servers send it with line breaks, in the form for addresses, without padding, or as a data URL. */
function plain(data: Json): Json {
  if (typeof data !== "string") return data;
  const text = data
    .replace(/^data:[^,]{0,200},/, "")
    .replaceAll(/\s/g, "")
    .replaceAll("-", "+")
    .replaceAll("_", "/");
  const base64 = withoutEnd(text, "=");
  return base64 + "=".repeat((4 - (base64.length % 4)) % 4);
}

function blockText(block: Json): string {
  if (!isJsonObject(block)) return "[unreadable content]";
  const { type, text, mimeType, data, uri, name, resource } = block;
  switch (type) {
    case "text":
      return typeof text === "string" ? text : "[unreadable text]";
    case "image":
    case "audio":
      return `[${type} ${said(mimeType)}, ${decodedBytes(data)} bytes]`;
    case "resource_link":
      return `[resource ${said(uri)}${typeof name === "string" ? ` (${name})` : ""}]`;
    case "resource": {
      const inner = isJsonObject(resource) ? resource : {};
      const head = `[resource ${said(inner["uri"])}`;
      if (typeof inner["text"] === "string") return `${head}]\n${inner["text"]}`;
      return `${head}, ${said(inner["mimeType"])}, ${decodedBytes(inner["blob"])} bytes]`;
    }
    default:
      return `[content of the unknown type ${said(type)}]`;
  }
}

function said(value: Json | undefined): string {
  return typeof value === "string" ? headBytes(value, 500) : "unknown";
}

/** The bytes that a text in base64 stands for. */
function decodedBytes(data: Json | undefined): number {
  if (typeof data !== "string") return 0;
  return Math.floor((byteLength(withoutEnd(data, "=")) * 3) / 4);
}

/** The block with the size in place of its bytes. */
function blockDetails(block: Json): Json {
  if (!isJsonObject(block)) return null;
  const { data, resource, ...others } = block;
  const sized = data === undefined ? others : { ...others, bytes: decodedBytes(data) };
  if (!isJsonObject(resource)) return sized;
  const { blob, ...text } = resource;
  return { ...sized, resource: blob === undefined ? text : { ...text, bytes: decodedBytes(blob) } };
}
