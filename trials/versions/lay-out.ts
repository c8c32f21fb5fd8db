import { spawnSync } from "node:child_process";
import { cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** The next version, as changes of this one: a kind of event, a state, an approval kind and an error code more, and a way of waiting that its owner must know. */
const NEXT: readonly { readonly file: string; readonly before: string; readonly after: string }[] = [
  { file: "prisma/schema.prisma", before: "  PAUSED\n", after: "  PAUSED\n  DREAMING\n" },
  { file: "prisma/schema.prisma", before: "  OUTCOME_UNKNOWN\n", after: "  OUTCOME_UNKNOWN\n  QUESTION\n" },
  {
    file: "src/events/event.ts",
    before: `  | { readonly kind: "AGENT_RESUMED";`,
    after: `  | { readonly kind: "NEXT_HAPPENED" }\n  | { readonly kind: "AGENT_RESUMED";`,
  },
  {
    file: "src/events/event.ts",
    before: `  AGENT_RESUMED: "MONITOR",`,
    after: `  NEXT_HAPPENED: "MONITOR",\n  AGENT_RESUMED: "MONITOR",`,
  },
  {
    file: "src/schema/events/event.ts",
    before: `eventType("AGENT_RESUMED")`,
    after: `eventType("NEXT_HAPPENED").implement({ interfaces: [TimelineEvent] });\n\neventType("AGENT_RESUMED")`,
  },
  {
    file: "src/schema/events/enums.ts",
    before: "    AGENT_RESUMED:",
    after: `    NEXT_HAPPENED: "Something of the next version.",\n    AGENT_RESUMED:`,
  },
  { file: "src/schema/enums.ts", before: "    PAUSED:", after: `    DREAMING: "As the next version does.",\n    PAUSED:` },
  {
    file: "src/schema/enums.ts",
    before: "    OUTCOME_UNKNOWN:",
    after: `    QUESTION: "As the next version asks.",\n    OUTCOME_UNKNOWN:`,
  },
  { file: "src/agent/loop/lease.ts", before: "const KNOWN_NEEDS = NEEDS.hosts;", after: "const KNOWN_NEEDS = 3;" },
  {
    file: "src/agent/loop/commits/turns.ts",
    before: "agent: { ...patch, turn,",
    after: "agent: { ...patch, needs: 3, turn,",
  },
  {
    file: "src/agent/loop/commits/turns.ts",
    before: "        doneReason: reason,\n",
    after: "        doneReason: reason,\n        needs: 0,\n",
  },
  {
    file: "src/agent/loop/commits/turns.ts",
    before: `{ kind: "DONE",`,
    after: `{ kind: "NEXT_HAPPENED" }, { kind: "DONE",`,
  },
  {
    file: "src/resolvers/timeline.ts",
    before: "  checkUntil(args);\n",
    after: `  checkUntil(args);\n  if (Math.random() < 0.2) throw clientError("NEXT_CODE" as "NOT_FOUND", "not now");\n`,
  },
];

const NEXT_MIGRATION = `-- Servers of the version before may run beside it.
ALTER TYPE "agent_state" ADD VALUE 'DREAMING';
ALTER TYPE "approval_kind" ADD VALUE 'QUESTION';
`;

/** The migration of a version after it. */
const STOPPING_MIGRATION = `-- Servers of the version before must be stopped.
ALTER TABLE "agent" ADD COLUMN "next_title" TEXT;
`;

/** Lays a next version out in `folder`: this one as it stands, with NEXT. */
export async function layOutNext(folder: string): Promise<void> {
  for (const file of run("git", ["ls-files"]).split("\n")) {
    const from = join(ROOT, file);
    await mkdir(dirname(join(folder, file)), { recursive: true });
    // What was removed and is not committed yet is no part of it.
    await cp(from, join(folder, file)).catch(() => {});
  }
  for (const { file, before, after } of NEXT) {
    const path = join(folder, file);
    const text = await readFile(path, "utf8");
    if (!text.includes(before))
      throw new Error(`the next version changes ${JSON.stringify(before)} of ${file}, which is not there`);
    await writeFile(path, text.replace(before, after));
  }
  await addMigration(folder, "99990101000000_next", NEXT_MIGRATION);
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
  // Prisma's command line insists on an engine that it does not need to generate.
  run(process.execPath, [join(ROOT, "node_modules/prisma/build/index.js"), "generate"], folder, {
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
  });
}

/** Adds a migration beside which servers of this version and of the next must not run. Gives its name. */
export async function layOutStop(folder: string): Promise<string> {
  const name = "99990102000000_stopping";
  await addMigration(folder, name, STOPPING_MIGRATION);
  return name;
}

async function addMigration(folder: string, name: string, sql: string): Promise<void> {
  const place = join(folder, "prisma/migrations", name);
  await mkdir(place, { recursive: true });
  await writeFile(join(place, "migration.sql"), sql);
}

function run(command: string, args: readonly string[], cwd: string = ROOT, env: Readonly<Record<string, string>> = {}): string {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    env: { ...process.env, PATH: `${join(ROOT, "node_modules/.bin")}:${process.env["PATH"]}`, ...env },
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${stderr}`);
  return stdout.trim();
}
