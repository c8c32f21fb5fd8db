import { defineTool, optional } from "../tool.ts";
import { leftOutDetails, leftOutNote, nothingLeftOut, walk } from "../../workspace/walk.ts";
import { absenceHint, bracketHint, searchPattern } from "../../workspace/named-part.ts";
import { closed } from "../../../lib/setting.ts";
import { Type } from "typebox";

const PATHS = 200;

export const fsGlob = defineTool({
  name: "fs_glob",
  description:
    "Lists the files of the workspace whose path matches a glob pattern, for example src/**/*.ts. Says what was left out: hidden names, .git, node_modules.",
  readOnly: true,
  idempotent: true,
  paths: { cwd: "read", pattern: { searchIn: "cwd" } },
  inputSchema: closed({
    pattern: Type.String({ minLength: 1, maxLength: 1_000, description: "Glob pattern, relative to cwd." }),
    cwd: optional(Type.String({ maxLength: 4_000, description: "Folder to start in, relative to the workspace." })),
    dot: optional(Type.Boolean({ description: "Whether names that begin with a dot match." })),
    limit: optional(Type.Integer({ minimum: 1, maximum: 2_000, description: `Most paths to answer (${PATHS}).` })),
  }),
  async run({ pattern: written, dot, ...given }, { workspace, signal }) {
    const cwd = given.cwd ?? ".";
    const limit = given.limit ?? PATHS;
    const [folder, real] = workspace.namesOf(cwd);
    const { pattern } = searchPattern(workspace, real ?? folder, written);
    const matches: string[] = [];
    let truncated = false;
    const leftOut = nothingLeftOut();
    for await (const { path } of walk(workspace, cwd, pattern, dot ?? false, signal, leftOut)) {
      truncated = matches.length === limit;
      if (truncated) break;
      matches.push(folder === "." ? path : `${folder}/${path}`);
    }
    const note =
      (truncated ? `\n[only the first ${limit}: narrow the pattern]` : "") + leftOutNote(leftOut, "dot: true lists them");
    return {
      output:
        (matches.length === 0
          ? `No file matches ${written}.${bracketHint(written)}${absenceHint(workspace, real ?? folder, pattern)}`
          : matches.join("\n")) + note,
      details: { ok: true, pattern: written, cwd, truncated, count: matches.length, matches, leftOut: leftOutDetails(leftOut) },
    };
  },
});
