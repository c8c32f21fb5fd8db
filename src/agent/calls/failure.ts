import { basename, isAbsolute, relative } from "node:path";
import type { JsonObject } from "../../lib/json.ts";
import { messageOf } from "../../lib/text.ts";

/** The failure of a tool: in words, and the fields that its error has besides. */
export type Failure = { readonly message: string; readonly cause: JsonObject };

/** The codes of what goes wrong with files most often, in words that follow the name of the file. */
const IN_WORDS: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  EISDIR: "is a folder",
  ENOTDIR: "is no folder, or lies in something that is none",
  EACCES: "may not be opened by the server",
  EPERM: "may not be changed by the server",
  EEXIST: "is there already",
  ENOTEMPTY: "is a folder that is not empty",
  ENOSPC: "could not be written: the disk is full",
  ENAMETOOLONG: "has too long a name",
  ELOOP: "is a link that leads back to itself",
};

/** The failure of a tool that threw `error`, as the model reads it: names of files are those of the workspace, not of the server's disk. */
export function failureOf(error: unknown, root: string): Failure {
  const { code, errno, path } = fieldsOf(error);
  const name = path === null ? null : inWorkspace(root, path);
  const words = code === null ? undefined : IN_WORDS[code];
  const message =
    name !== null && words !== undefined
      ? `${name === "" ? "the workspace" : name} ${words}`
      : messageOf(error).replaceAll(`${root}/`, "");
  return {
    message,
    cause: { ...(code === null ? {} : { code }), ...(errno === null ? {} : { errno }), ...(name === null ? {} : { path: name }) },
  };
}

function fieldsOf(error: unknown): { readonly code: string | null; readonly errno: number | null; readonly path: string | null } {
  if (!(error instanceof Error)) return { code: null, errno: null, path: null };
  const { code, errno, path } = error as { code?: unknown; errno?: unknown; path?: unknown };
  return {
    code: typeof code === "string" ? code : null,
    errno: typeof errno === "number" ? errno : null,
    path: typeof path === "string" ? path : null,
  };
}

/** The name in the workspace; of what lies outside of it the last part alone. */
function inWorkspace(root: string, path: string): string {
  const name = isAbsolute(path) ? relative(root, path) : path;
  return name === ".." || name.startsWith("../") ? basename(path) : name;
}
