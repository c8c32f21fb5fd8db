import { byteLength } from "../../../lib/text.ts";
import { defineTool } from "../tool.ts";
import { closed } from "../../../lib/setting.ts";
import { Type } from "typebox";

/** Writes a whole file. */
export const fsWrite = defineTool({
  name: "fs_write",
  description: "Writes a file of the workspace: creates it, with its folders, or replaces its whole content.",
  readOnly: false,
  paths: { path: "write" },
  inputSchema: closed({
    path: Type.String({ minLength: 1, description: "Path relative to the workspace." }),
    content: Type.String({ description: "The whole new content." }),
  }),
  async run({ path, content }, { workspace }) {
    await workspace.replaceFile(path, content);
    const bytes = byteLength(content);
    const lines = content === "" ? 0 : content.split("\n").length - (content.endsWith("\n") ? 1 : 0);
    return { output: `Wrote ${path} (${lines} lines, ${bytes} bytes).`, details: { ok: true, path, bytes, lines } };
  },
});
