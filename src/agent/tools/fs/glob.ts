import { defineTool } from "../tool.ts";
import { leftOutNote, walk } from "../../workspace/walk.ts";

/** Lists files by pattern. */
export const fsGlob = defineTool<{ pattern: string; cwd?: string; dot?: boolean; limit?: number }>({
  name: "fs_glob",
  description: "Lists the files of the workspace whose path matches a glob pattern, for example src/**/*.ts.",
  readOnly: true,
  idempotent: true,
  paths: { cwd: "read", pattern: { searchIn: "cwd" } },
  inputSchema: {
    type: "object",
    required: ["pattern"],
    additionalProperties: false,
    properties: {
      pattern: { type: "string", minLength: 1, maxLength: 1_000, description: "Glob pattern, relative to cwd." },
      cwd: { type: "string", maxLength: 4_000, nullable: true, description: "Folder to start in, relative to the workspace." },
      dot: { type: "boolean", nullable: true, description: "Whether names that begin with a dot match." },
      limit: { type: "integer", minimum: 1, maximum: 2_000, nullable: true, description: "Most paths to answer (200)." },
    },
  },
  async run({ pattern, cwd: givenCwd, dot, limit: givenLimit }, { workspace, signal }) {
    const cwd = givenCwd ?? ".";
    const limit = givenLimit ?? 200;
    const [folder] = workspace.namesOf(cwd);
    const matches: string[] = [];
    let truncated = false;
    const leftOut = { secrets: 0 };
    for await (const { path } of walk(workspace, cwd, pattern, dot ?? false, signal, leftOut)) {
      truncated = matches.length === limit;
      if (truncated) break;
      matches.push(folder === "." ? path : `${folder}/${path}`);
    }
    const note = (truncated ? `\n[only the first ${limit}: narrow the pattern]` : "") + leftOutNote(leftOut);
    return {
      output: (matches.length === 0 ? `No file matches ${pattern}.` : matches.join("\n")) + note,
      details: { ok: true, pattern, cwd, truncated, count: matches.length, matches },
    };
  },
});
