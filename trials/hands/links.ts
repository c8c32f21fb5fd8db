import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ask } from "../processes.ts";
import { until, type TrialRun } from "../trial.ts";
import { createHands, work, workAll, type HandsTemplate } from "./agents.ts";
import { canary } from "./canaries.ts";
import { listing } from "./listing.ts";

/** The content of the outside, which nothing that a tool answers may have. */
const CANARY = canary("outside");

/** The calls of a turn that tries: one of a program, and four of file tools. */
const CALLS = 5;

/** The most time of a call beside a shell, in ms: a box that may not be made yet is waited for until then. */
const CALL_MS = 500;

/** The place at which bubblewrap sees the machine's files while it makes a box: below 0.12, it follows links that lead there. */
const WHILE_MADE = "/oldroot";

/** The script of a program that tries protected paths: to make them, and to put a program for others there. */
const TRIES =
  "for round in 1 2 3 4 5; do mkdir -p .git/hooks .husky .vscode; for f in .git/config .git/hooks/pre-commit .husky/pre-commit .vscode/tasks.json .husky .envrc; do echo evil > $f; done; done; true";

/**
 * Links lie at protected paths, or on the way there, before a program starts: no box is made, and nothing outside is made or
 * changed. Without a box (the fault), what the program writes lands outside. Gives how many were tried.
 */
export async function plantLinks(url: string, template: HandsTemplate, folder: string, { fail }: TrialRun): Promise<string> {
  const outside = await layOutOutside(join(folder, "outside-of-links"));
  const before = await listing(outside);
  const links: readonly (readonly [at: string, to: string])[] = [
    [".git", outside],
    [".git", `${WHILE_MADE}${outside}`],
    [".git", "../../outside-of-links"],
    [".git/hooks", join(outside, "hooks")],
    [".git/hooks", `${WHILE_MADE}${outside}/new`],
    [".git/config", join(outside, "config")],
    [".git/config", `${WHILE_MADE}${outside}/new`],
    [".husky", join(outside, "new")],
    [".vscode", "../../outside-of-links/hooks"],
    [".envrc", "/proc/self/cwd/../../outside-of-links/new"],
  ];
  const agent = await createHands(url, template, join(folder, "workspaces"), "links");
  const workspace = join(folder, "workspaces", "links");
  for (const [at, to] of links) {
    await rm(workspace, { recursive: true, force: true });
    await mkdir(dirname(join(workspace, at)), { recursive: true });
    await symlink(to, join(workspace, at));
    await writeFile(join(workspace, "try.sh"), TRIES);
    const { state, output } = await work(url, agent, "run sh try.sh");
    if (template === "boxed" && (state !== "FAILED" || !output?.includes(`${at} is a link`)))
      fail(`beside a link of ${at} to ${to} a program was started: ${state} ${output?.slice(0, 200)}`);
    const now = await listing(outside);
    if (now === before) continue;
    fail(`a link of ${at} to ${to}: the outside was\n${before}\nand is\n${now}`);
    return "an escape";
  }
  return `${links.length} planted links`;
}

/**
 * A background shell puts links in the place of protected paths, and of folders in which the file tools work, and takes
 * them away again, while another agent works in the same workspace: nothing outside is read, made or changed. Without a box
 * (the fault), what the other agent's programs write lands outside. Gives how many turns were tried.
 */
export async function swapLinks(
  url: string,
  template: HandsTemplate,
  folder: string,
  { isShort, isPlanted, fail }: TrialRun,
): Promise<string> {
  const turns = isShort && !isPlanted ? 15 : 100;
  const outside = await layOutOutside(join(folder, "outside-of-swaps"));
  const before = await listing(outside);
  const workspaces = join(folder, "workspaces");
  const shell = await createHands(url, template, workspaces, "swaps");
  const worker = await createHands(url, template, workspaces, "swaps", CALL_MS);
  for (const [name, content] of Object.entries({ go: "", "try.sh": TRIES, "swap.sh": swaps(outside) }))
    await writeFile(join(workspaces, "swaps", name), content);
  const started = await work(url, shell, "start exec bash swap.sh");
  if (started.state !== "COMPLETED") throw new Error(`the shell did not start: ${started.output}`);

  const counts = { ran: 0, "held back": 0, written: 0, read: 0 };
  for (let turn = 0; turn < turns; turn += 1) {
    const [program, ...files] = await workAll(url, worker, "try sh try.sh", CALLS);
    if (program === undefined || files.length !== CALLS - 1) throw new Error("the agent made too few calls");
    counts[program.state === "COMPLETED" ? "ran" : "held back"] += 1;
    const [hook, , note, ...rest] = files.map(({ state }) => state === "COMPLETED");
    counts.written += Number(hook) + Number(note);
    counts.read += Number(files[1]?.state === "COMPLETED") + Number(rest[0]);
    const leaked = [program, ...files].find(({ output }) => output?.includes(CANARY));
    if (leaked !== undefined) return failed(fail, `turn ${turn}: a call answered ${leaked.output?.slice(0, 200)}`);
    const now = await listing(outside);
    if (now !== before) return failed(fail, `turn ${turn}: the outside was\n${before}\nand is\n${now}`);
  }
  await rm(join(workspaces, "swaps", "go"));
  await until("the shell has ended", async () => (await running(url, shell.id)) === 0, 30_000);
  if (!isPlanted && (counts.ran === 0 || counts.written === 0)) fail(`nothing was tried beside the shell: ${said(counts)}`);
  return `${turns} turns beside a shell that swaps links: ${said(counts)}`;
}

/** A folder outside of a workspace, with what a link there might reach. */
async function layOutOutside(outside: string): Promise<string> {
  await mkdir(join(outside, "hooks"), { recursive: true });
  for (const name of ["config", "hooks/pre-commit", "today.txt"]) await writeFile(join(outside, name), `${CANARY}\n`);
  return outside;
}

/** A shell that puts links and folders in each other's place while a file says so. */
function swaps(outside: string): string {
  const at = (path: string, to: string): string => `ln -s ${to} ${path}; sleep 0.005; rm -rf ${path}`;
  const steps = [
    "rm -rf .git .husky notes away; mkdir -p .git/hooks notes; echo x > .git/config",
    "mv notes away",
    at("notes", outside),
    "mv away notes; rm -rf .git",
    at(".git", outside),
    at(".git", `${WHILE_MADE}${outside}`),
    `mkdir .git; ${at(".git/hooks", join(outside, "hooks"))}`,
    at(".git/config", `${WHILE_MADE}${outside}/new`),
    // A program may start beside the shell while there is no protected path.
    "rm -rf .git; sleep 0.05",
    at(".husky", `${WHILE_MADE}${outside}/new`),
  ];
  return `while [ -e go ]; do { ${steps.join("; ")}; } 2>/dev/null; done`;
}

async function running(url: string, id: string): Promise<number> {
  const { agent } = await ask<{ agent: { shells: readonly { state: string }[] } }>(
    url,
    "query($id: ID!) { agent(id: $id) { shells { state } } }",
    { id },
  );
  return agent.shells.filter(({ state }) => state === "RUNNING").length;
}

function failed(fail: TrialRun["fail"], problem: string): string {
  fail(problem);
  return "an escape";
}

function said(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([what, count]) => `${count} ${what}`)
    .join(", ");
}
