import { basename, isAbsolute, relative } from "node:path";
import type { JsonObject } from "../../lib/json.ts";
import { messageOf } from "../../lib/text.ts";
import { AroundFailed } from "./hooks.ts";
import { UnopenedFile } from "../tools/fs/unopened-file.ts";
import { systemWords } from "../workspace/system-words.ts";

export type Failure = { readonly message: string; readonly cause: JsonObject };

/**
 * The failure of a tool, or of a hook around it, for the model. Paths are relative to the workspace, not to the
 * server's disk.
 */
export function failureOf(error: unknown, root: string): Failure {
  if (error instanceof AroundFailed) {
    const { message, cause } = failureOf(error.cause, root);
    return { message: `${error.message}: ${message}`, cause };
  }
  const { code, errno, path } = fieldsOf(error instanceof UnopenedFile ? error.cause : error);
  const name = path === null ? null : inWorkspace(root, path);
  const words = error instanceof UnopenedFile ? null : systemWords(error);
  const message =
    name !== null && words !== null
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

function inWorkspace(root: string, path: string): string {
  const name = isAbsolute(path) ? relative(root, path) : path;
  return name === ".." || name.startsWith("../") ? basename(path) : name;
}
