import { lstat, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Json } from "../../src/lib/json.ts";
import { runTool } from "../../tests/support/run-tool.ts";
import type { TrialRun } from "../trial.ts";
import { listing } from "./listing.ts";
import { Random } from "./random.ts";

/** The words of every file outside of the workspace: nothing that a tool answers may have them. */
const CANARY = "canary of the outside";

/** The names of which paths are made: those of both trees, those of links, and those that have bitten somebody. */
const NAMES = [
  "a",
  "b",
  "a.txt",
  "b.txt",
  "outside",
  "workspace",
  "l0",
  "l1",
  "l2",
  "l3",
  "new",
  "..",
  "..",
  ".",
  "",
  "...",
  "~",
  "ä",
  "a\u0000b",
  "\\..",
  "%2e%2e",
  "*",
  "**",
  "x".repeat(300),
] as const;

/** The targets of links. */
const TARGETS = [
  "..",
  "../outside",
  "../outside/a.txt",
  "../outside/a",
  "../../etc",
  "/etc/passwd",
  "/",
  "a",
  "a.txt",
  "l0",
  "l1",
  "l2",
  "../workspace/../outside",
  "nowhere",
  "../outside/new",
  "/proc/self/root",
  "/proc/self/cwd",
] as const;

/**
 * Lets the file tools try generated paths in a workspace full of generated links: nothing outside of it is read, made or
 * changed. `leaks` is the fault: a tool that opens what a path says. Gives the number of paths.
 */
export async function tryPaths({ isShort, isPlanted, fail }: TrialRun, folder: string): Promise<string> {
  const seed = Date.now() % 1_000_000;
  const random = new Random(seed);
  const workspace = join(folder, "workspace");
  const outside = join(folder, "outside");
  await mkdir(join(outside, "a"), { recursive: true });
  for (const name of ["a.txt", "b.txt", "a/a.txt", "a/b.txt"]) await writeFile(join(outside, name), `${CANARY}: ${name}\n`);
  const before = await listing(outside);
  const paths = isShort ? 5_000 : 100_000;
  let reached = 0;
  for (let tried = 0; tried < paths; tried += 1) {
    if (tried % 100 === 0) {
      await layOut(workspace, random);
      const now = await listing(outside);
      if (now !== before) return failed(fail, `seed ${seed}: before path ${tried} the outside was\n${before}\nand is\n${now}`);
    }
    const { tool, input } = attempt(random);
    const said = isPlanted ? await leaks(workspace, input) : await answer(workspace, tool, input);
    if (said.includes("inside") || said.includes("written")) reached += 1;
    if (said.includes(CANARY))
      return failed(fail, `seed ${seed}: ${tool} of ${JSON.stringify(input)} answered ${said.slice(0, 200)}`);
    if (random.once(20)) await link(workspace, random);
  }
  if (reached < paths / 50) fail(`only ${reached} of ${paths} paths reached anything: the trial tries nothing`);
  return `${paths} paths, of which ${reached} reached something inside`;
}

function failed(fail: TrialRun["fail"], problem: string): string {
  fail(problem);
  return "an escape";
}

/** A workspace with two folders, two files, and links to anywhere. */
async function layOut(workspace: string, random: Random): Promise<void> {
  await rm(workspace, { recursive: true, force: true });
  await mkdir(join(workspace, "a", "b"), { recursive: true });
  for (const name of ["a.txt", "a/b.txt", "a/b/a.txt"]) await writeFile(join(workspace, name), `inside: ${name}\n`);
  for (let links = 0; links < 4; links += 1) await link(workspace, random);
}

/** Makes a link, or puts one in the place of what is there. */
async function link(workspace: string, random: Random): Promise<void> {
  const path = join(workspace, random.of(["", "a", "a/b"]), random.of(["l0", "l1", "l2", "l3", "a.txt", "new"]));
  try {
    if (!(await lstat(path).catch(() => null))?.isDirectory()) await rm(path, { force: true });
    await symlink(random.of(TARGETS), path);
  } catch {
    // The folder has become a link that leads nowhere: the next layout mends it.
  }
}

/** A path of up to six names. */
function path(random: Random): string {
  const names = Array.from({ length: 1 + random.number(6) }, () => random.of(NAMES));
  return `${random.once(6) ? "/" : ""}${names.join("/")}`;
}

function attempt(random: Random): { readonly tool: string; readonly input: { readonly [name: string]: Json } } {
  const written = { old_string: "inside", new_string: "changed" };
  switch (random.number(7)) {
    case 0:
      return { tool: "fs_write", input: { path: path(random), content: "written" } };
    case 1:
      return { tool: "fs_edit", input: { path: path(random), ...written } };
    case 2:
      return {
        tool: "fs_multi_edit",
        input: {
          edits: [
            { path: path(random), ...written },
            { path: path(random), ...written },
          ],
        },
      };
    case 3:
      return { tool: "fs_glob", input: { pattern: path(random), cwd: path(random) } };
    case 4:
      return { tool: "fs_grep", input: { pattern: "a", path: path(random) } };
    default:
      return { tool: "fs_read", input: { path: path(random) } };
  }
}

/** All that a tool says: what it answers, or why it does not. */
async function answer(workspace: string, tool: string, input: Json): Promise<string> {
  try {
    const { output, details } = await runTool(workspace, tool, input);
    return `${output} ${JSON.stringify(details)}`;
  } catch (error) {
    return String(error);
  }
}

/** The fault of the trial: a tool that opens what its path says. */
async function leaks(workspace: string, { path }: { readonly [name: string]: Json }): Promise<string> {
  return typeof path === "string" ? readFile(join(workspace, path), "utf8").catch(String) : "";
}
