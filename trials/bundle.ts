import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** As deep as the bundles of `npm start`. */
const BUNDLES = join(ROOT, ".triplane/modules");
const LOADER = new URL("bundle-loader.ts", import.meta.url).href;
/** Other trials and tests of this checkout may still run on an older bundle for so long. */
const KEPT_MS = 3_600_000;

/** How a process of a trial or of a test loads the modules of `src`: from a bundle of them, with which it starts in two thirds of the time. */
export type FromBundle = { readonly options: readonly string[]; readonly env: { readonly TRIAL_BUNDLE: string } };

let made: Promise<FromBundle> | null = null;

/** Makes the bundle of the sources as they are, unless there is one. */
export function fromBundle(): Promise<FromBundle> {
  return (made ??= bundled().then((folder) => ({ options: ["--import", LOADER], env: { TRIAL_BUNDLE: folder } })));
}

async function bundled(): Promise<string> {
  const folder = join(BUNDLES, digestOfSources());
  if (existsSync(folder)) return folder;
  const making = join(BUNDLES, `making-${process.pid}`);
  const words = [join(ROOT, "scripts/bundle.ts"), making, "--modules"];
  await promisify(execFile)(process.execPath, words, { cwd: ROOT });
  for (const name of readdirSync(BUNDLES)) {
    const other = join(BUNDLES, name);
    const made = statSync(other, { throwIfNoEntry: false })?.mtimeMs;
    if (made !== undefined && Date.now() - made > KEPT_MS) rmSync(other, { recursive: true, force: true });
  }
  try {
    renameSync(making, folder);
  } catch (error) {
    // Another process was quicker.
    if (!existsSync(folder)) throw error;
    rmSync(making, { recursive: true });
  }
  return folder;
}

/** A digest of what the bundle is made of, and of what makes it. */
function digestOfSources(): string {
  const hash = createHash("sha256");
  const paths = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" }).filter((path) => /\.\w+$/.test(path));
  for (const path of [
    "package-lock.json",
    "tsconfig.json",
    "scripts/bundle.ts",
    ...paths.map((path) => join("src", path)).toSorted(),
  ]) {
    const content = readFileSync(join(ROOT, path));
    hash.update(`${path}\0${content.length}\0`).update(content);
  }
  return hash.digest("hex").slice(0, 32);
}
