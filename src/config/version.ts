import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { errorCode } from "../lib/text.ts";
import type { Version } from "../telemetry/version.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const COMMIT_DIGITS = 12;

/** The version of the sources: of package.json, with the commit of TRIPLANE_COMMIT or of the checkout. */
export function readVersion(variables: Readonly<Record<string, string | undefined>>, root: string = ROOT): Version {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { readonly version: string };
  const commit = variables["TRIPLANE_COMMIT"]?.trim() || checkedOut(root);
  return { version, commit: commit === null ? null : commit.slice(0, COMMIT_DIGITS) };
}

/**
 * The commit of a checkout, from git's files: git itself may be missing, and refuses folders of another owner. Null if
 * it is no checkout, or has an unknown form.
 */
function checkedOut(root: string): string | null {
  const folder = gitFolder(root);
  const head = textOf(join(folder, "HEAD"));
  const [, branch] = /^ref: (refs\/\S+)$/.exec(head) ?? [];
  if (branch === undefined) return commitOf(head);
  // Work trees of one repository share its branches.
  const shared = resolve(folder, textOf(join(folder, "commondir")) || ".");
  const packed = textOf(join(shared, "packed-refs"))
    .split("\n")
    .find((line) => line.endsWith(` ${branch}`));
  return commitOf(textOf(join(shared, branch))) ?? commitOf(packed?.split(" ")[0] ?? "");
}

function gitFolder(root: string): string {
  const [, named] = /^gitdir: (.+)$/.exec(textOf(join(root, ".git"))) ?? [];
  return resolve(root, named ?? ".git");
}

function commitOf(text: string): string | null {
  return /^[0-9a-f]{40,64}$/.test(text) ? text : null;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR" || code === "EISDIR" || code === "EACCES") return "";
    throw error;
  }
}

const PACKAGE = new URL("../triplane.ts", import.meta.url).href;

/**
 * Resolves `import … from "triplane"` to this server from any file: a configuration may lie outside of the checkout,
 * without the package in node_modules. Uses Node's synchronous module hooks (node:module, registerHooks).
 */
export function resolvePackageName(): void {
  registerHooks({
    resolve: (specifier, context, next) => next(specifier === "triplane" ? PACKAGE : specifier, context),
  });
}
