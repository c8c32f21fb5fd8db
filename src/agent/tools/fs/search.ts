import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { Type } from "typebox";
import { closed } from "../../../lib/setting.ts";
import { isPattern } from "../../workspace/glob.ts";
import { literalSearch, regexSearch } from "../../workspace/line-search.ts";
import { absenceHint, bracketHint, searchPattern, namedPart, searchMatcher } from "../../workspace/named-part.ts";
import { leftOutDetails, leftOutNote, nothingLeftOut, walk, type LeftOut, type Found } from "../../workspace/walk.ts";
import { PathRefused, type Workspace } from "../../workspace/workspace.ts";
import { SEARCHED_FILE_BYTES } from "../limits.ts";
import { defineTool, optional } from "../tool.ts";
import { readersDecoder } from "./text-content.ts";

const EVERYWHERE = "**/*";
const LINES = 200;

export const fsGrep = defineTool({
  name: "fs_grep",
  description:
    "Searches the lines of the workspace's text files for a text or a regular expression, in all of them or in those of a path: a file, a folder or a glob pattern. Answers path:line:column: line, and what was left out: hidden files, .git, node_modules, files over 5 MB.",
  readOnly: true,
  idempotent: true,
  paths: { path: { searchIn: null } },
  inputSchema: closed({
    pattern: Type.String({ minLength: 1, maxLength: 1_000, description: "What to look for." }),
    path: optional(
      Type.String({
        maxLength: 1_000,
        description: `Glob pattern of the files to search (${EVERYWHERE}).`,
      }),
    ),
    regex: optional(Type.Boolean({ description: "Whether the pattern is a regular expression." })),
    case_sensitive: optional(Type.Boolean({ description: "Whether case counts (true)." })),
    max_results: optional(Type.Integer({ minimum: 1, maximum: 2_000, description: `Most lines to answer (${LINES}).` })),
  }),
  async run({ pattern, regex, ...given }, { workspace, signal }) {
    const written = given.path ?? EVERYWHERE;
    const { pattern: path } = searchPattern(workspace, ".", written);
    const most = given.max_results ?? LINES;
    const isCaseSensitive = given.case_sensitive ?? true;
    const search =
      regex === true ? regexSearch(pattern, isCaseSensitive, signal) : literalSearch(pattern, isCaseSensitive, signal);
    const isCovered = searchMatcher(path, namedPart(workspace, ".", path), false);
    const leftOut = nothingLeftOut();
    const matches: { path: string; line: number; column: number; preview: string }[] = [];
    try {
      for await (const { path: file, kind } of filesIn(workspace, path, signal, leftOut)) {
        if (kind === "link to a folder" && isPattern(path)) continue;
        if (kind === "link to a file" && isPattern(path) && !leadsInto(workspace, file, isCovered)) {
          leftOut.links += 1;
          continue;
        }
        // Found files are opened under their found names. A link's target is opened only if the search covers it.
        const isWanted = (names: readonly string[]): boolean =>
          !isPattern(path) || (kind === "file" ? names.length === 1 : names.every(isCovered));
        const text = await readText(workspace, file, isWanted, leftOut);
        if (text === null) continue;
        for (const match of await search.search(text, most + 1 - matches.length)) matches.push({ path: file, ...match });
        if (matches.length > most) break;
      }
    } finally {
      await search.close();
    }
    const truncated = matches.length > most;
    const shown = matches.slice(0, most);
    const lines = shown.map((match) => `${match.path}:${match.line}:${match.column}: ${match.preview}`);
    return {
      output:
        (shown.length === 0
          ? `Nothing matches ${pattern} in ${written}.${bracketHint(written)}${absenceHint(workspace, ".", path)}`
          : lines.join("\n") + (truncated ? `\n[only the first ${most}: narrow the search]` : "")) +
        leftOutNote(leftOut, "name them, as in .github/**"),
      details: { ok: true, pattern, path: written, matches: shown, truncated, leftOut: leftOutDetails(leftOut) },
    };
  },
});

/** The files of a search. A named file is searched alone, without exclusions. */
async function* filesIn(workspace: Workspace, path: string, signal: AbortSignal, leftOut: LeftOut): AsyncGenerator<Found> {
  const [name] = isPattern(path) ? [] : workspace.namesOf(path);
  const found = name === undefined ? null : await lstat(join(workspace.root, name)).catch(() => null);
  if (name !== undefined && found?.isFile() === true) yield { path: name, kind: "file" };
  else yield* walk(workspace, ".", path, false, signal, leftOut);
}

function leadsInto(workspace: Workspace, link: string, isCovered: (path: string) => boolean): boolean {
  try {
    return workspace.namesOf(link).every(isCovered);
  } catch (error) {
    if (error instanceof PathRefused) return false;
    throw error;
  }
}

/**
 * The file's text; null for skipped files, which are counted: large or binary files, links out of the workspace,
 * unreadable files.
 */
async function readText(
  workspace: Workspace,
  path: string,
  isWanted: (names: readonly string[]) => boolean,
  leftOut: LeftOut,
): Promise<string | null> {
  try {
    const file = await workspace.openForReading(path, isWanted);
    try {
      const stat = await file.stat();
      if (stat.size > SEARCHED_FILE_BYTES) {
        leftOut.large += 1;
        return null;
      }
      const content = await file.readFile();
      const decoder = readersDecoder(content);
      if (decoder === null) leftOut.binary += 1;
      return decoder?.decode(content) ?? null;
    } finally {
      await file.close();
    }
  } catch (error) {
    if (
      error instanceof PathRefused ||
      // Any system error of one file, such as EACCES, or EINVAL of special files: the others are searched.
      (error instanceof Error && "syscall" in error)
    ) {
      leftOut.unreadable += 1;
      return null;
    }
    throw error;
  }
}

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
