import { createHash } from "node:crypto";
import { cp, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "./app.ts";
import { runPath, type TestProcess } from "./process.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** A checkout of the project as it stands, in which a test may change sources. */
export type Checkout = {
  readonly folder: string;
  /** Starts the server as `npm start` does. */
  start(env: Readonly<Record<string, string>>): TestProcess;
  /** Starts the server as `npm run dev` does. */
  develop(env: Readonly<Record<string, string>>): TestProcess;
  /** The bundles that were made, by their names. */
  bundles(): Promise<readonly string[]>;
};

/** Writes a lockfile with another version of a package than the one that is installed. */
export async function otherLockfile({ folder }: Checkout): Promise<void> {
  const path = join(folder, "package-lock.json");
  const lockfile = await readFile(path, "utf8");
  await writeFile(path, lockfile.replace(/("node_modules\/graphql": \{\s*"version": ")[^"]+/, "$10.0.1"));
}

/** Lays a checkout out, with dependencies and generated files, which is removed when the test ends. */
export async function checkout(): Promise<Checkout> {
  const folder = await temporaryFolder();
  for (const name of ["src", "scripts", "prisma", "package.json", "package-lock.json", "tsconfig.json", "triplane.config.ts"])
    await cp(join(ROOT, name), join(folder, name), { recursive: true });
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
  const state = join(folder, ".triplane");
  await mkdir(state);
  // The folder that new databases are copies of takes seconds to make: all have that of this project.
  const initialised = join(ROOT, ".triplane/initialised");
  await mkdir(initialised, { recursive: true });
  await symlink(initialised, join(state, "initialised"));
  for (const [step, file] of [
    ["installed", "package-lock.json"],
    ["generated", "prisma/schema.prisma"],
  ] as const)
    await writeFile(
      join(state, step),
      createHash("sha256")
        .update(await readFile(join(folder, file)))
        .digest("hex"),
    );
  const run = (words: readonly string[], env: Readonly<Record<string, string>>): TestProcess => {
    const unset = { PORT: "0", ANTHROPIC_API_KEY: "", DATABASE_URL: "", NODE_COMPILE_CACHE: undefined };
    const server = runPath(join(folder, "scripts/bootstrap.mjs"), words, { ...unset, ...env });
    // Killed at once, the bootstrap would leave its server behind.
    onTestFinished(async () => {
      server.child.kill("SIGTERM");
      await server.exited;
    });
    return server;
  };
  return {
    folder,
    start: (env) => run(["--bundle", "src/main.ts"], env),
    develop: (env) => run(["scripts/dev.ts"], env),
    bundles: () => readdir(join(state, "bundles")),
  };
}
