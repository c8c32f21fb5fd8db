import { spawnSync } from "node:child_process";
import { mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/**
 * Lays the version before the newest migration out in `folder`, from the history of this repository: what a server runs
 * that was started before an upgrade. Gives the name of that migration.
 */
export async function layOutPrevious(folder: string): Promise<string> {
  const migrations = (await readdir(join(ROOT, "prisma/migrations"), { withFileTypes: true })).filter((entry) =>
    entry.isDirectory(),
  );
  const newest =
    migrations
      .map(({ name }) => name)
      .sort()
      .at(-1) ?? "";
  const [added = ""] = run("git", [
    "log",
    "--format=%H",
    "--diff-filter=A",
    "-1",
    "--",
    `prisma/migrations/${newest}/migration.sql`,
  ]).split("\n");
  if (added === "")
    throw new Error(`the history does not say when ${newest} was added: run the trial in a clone with the whole history`);
  await mkdir(folder, { recursive: true });
  const archive = join(folder, "previous.tar");
  run("git", ["archive", "--output", archive, `${added}^`]);
  run("tar", ["-xf", archive, "-C", folder]);
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
  // Prisma's command line insists on an engine that it does not need to generate.
  run(process.execPath, [join(ROOT, "node_modules/prisma/build/index.js"), "generate"], folder, {
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
  });
  await writeFile(join(folder, "trial-server.ts"), SERVER);
  return newest;
}

/** The server of the version before, with the leases of trials. */
const SERVER = `
import { startApp } from "./src/app.ts";
import { readEnvironment } from "./src/environment.ts";
import { loadSettings } from "./src/settings.ts";
try {
  const settings = await loadSettings(readEnvironment({ ...process.env, PORT: "0" }));
  const app = await startApp(settings, { leaseTimes: { ttlMs: 1_500, renewMs: 500, startMs: 1_000 } });
  process.once("SIGTERM", () => void app.close());
  console.log(\`listens at http://127.0.0.1:\${app.port}/graphql\`);
} catch (error) {
  console.log(\`refused: \${error.message}\`);
  process.exitCode = 1;
}
`;

function run(command: string, args: readonly string[], cwd: string = ROOT, env: Readonly<Record<string, string>> = {}): string {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    env: { ...process.env, PATH: `${join(ROOT, "node_modules/.bin")}:${process.env["PATH"]}`, ...env },
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${stderr}`);
  return stdout.trim();
}
