import { existsSync } from "node:fs";
import { basename, resolve } from "node:path";

/** Programs that download a package and run it, with the words before the package. */
const DOWNLOADERS: Readonly<Record<string, readonly string[]>> = {
  npx: [],
  bunx: [],
  pnpx: [],
  uvx: [],
  npm: ["exec", "x"],
  pnpm: ["dlx", "exec"],
  yarn: ["dlx"],
  bun: ["x"],
  uv: ["tool", "run"],
  pipx: ["run"],
};

/** Options of these programs whose value is the package, and those with another value. */
const PACKAGE_OPTIONS = new Set(["-p", "--package", "--from", "--spec"]);
const VALUE_OPTIONS = new Set(["-c", "--call", "--registry", "--cache", "--python", "--index-url", "--with"]);

/** A note about a command that downloads any version of a package at its start; null for others. */
export function downloadNote(command: string, args: readonly string[]): string | null {
  const program = basename(command).replace(/\.(?:cmd|exe)$/i, "");
  const words = Object.hasOwn(DOWNLOADERS, program) ? DOWNLOADERS[program] : undefined;
  if (words === undefined) return null;
  const found = packageIn(args, words);
  if (found === null || hasVersion(found)) return null;
  return `${program} downloads ${found} at each start in any version, and runs it: write ${found}@VERSION, or install it and name its program.`;
}

/** A note about a command that seems to have its arguments in it; null for others. */
export function argumentsNote(command: string, args: readonly string[], folder: string): string | null {
  const [program = "", ...rest] = command.trim().split(/\s+/);
  if (rest.length === 0 || existsSync(resolve(folder, command))) return null;
  const all = JSON.stringify([...rest, ...args]);
  return `is the name of one program, and there is none named ${JSON.stringify(command)}: write command ${JSON.stringify(program)} and args ${all}.`;
}

function packageIn(args: readonly string[], words: readonly string[]): string | null {
  let isWord = words.length > 0;
  for (let index = 0; index < args.length; index += 1) {
    const each = args[index] ?? "";
    const [option = "", value] = each.split("=", 2);
    if (PACKAGE_OPTIONS.has(option)) return value ?? args[index + 1] ?? null;
    if (VALUE_OPTIONS.has(option)) index += value === undefined ? 1 : 0;
    else if (each.startsWith("-")) continue;
    else if (isWord && words.includes(each)) isWord = program(words, each);
    else return isWord ? null : each;
  }
  return null;
}

/** True while further words follow: `uv tool run`. */
function program(words: readonly string[], word: string): boolean {
  return words[0] === "tool" && word === "tool";
}

/** True for `name@1.2.3`, `name==1.2.3` and paths or addresses, which name one thing; tags such as `latest` move. */
function hasVersion(name: string): boolean {
  if (/^[./~]|:\/\//.test(name)) return true;
  const version = /^@?[^@=]+(?:@|==)(.+)$/.exec(name)?.[1];
  return version !== undefined && /^v?\d+(?:\.\d+)+/.test(version);
}
