import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** As deep as the bundles of `npm start`. */
const BUNDLES = join(ROOT, ".triplane/modules");
const LOADER = new URL("bundle-loader.ts", import.meta.url).href;
/** Other trials of this checkout may still run on an older bundle for so long. */
const KEPT_MS = 3_600_000;

/** How a process of a trial loads the modules of `src`: from a bundle of them, with which it starts in two thirds of the time. */
export type FromBundle = { readonly options: readonly string[]; readonly env: { readonly TRIAL_BUNDLE: string } };

let made: FromBundle | null = null;

/** Makes the bundle of the sources as they are, unless there is one. */
export function fromBundle(): FromBundle {
  return (made ??= { options: ["--import", LOADER], env: { TRIAL_BUNDLE: bundled() } });
}

function bundled(): string {
  const folder = join(BUNDLES, digestOfSources());
  if (existsSync(folder)) return folder;
  const making = join(BUNDLES, `making-${process.pid}`);
  const words = [join(ROOT, "scripts/bundle.ts"), making, "--modules"];
  const { status, stderr } = spawnSync(process.execPath, words, { cwd: ROOT, encoding: "utf8" });
  if (status !== 0) throw new Error(`the sources could not be bundled: ${stderr}`);
  for (const name of readdirSync(BUNDLES)) {
    const other = join(BUNDLES, name);
    if (Date.now() - statSync(other).mtimeMs > KEPT_MS) rmSync(other, { recursive: true, force: true });
  }
  // Another trial may have been quicker.
  if (existsSync(folder)) rmSync(making, { recursive: true });
  else renameSync(making, folder);
  return folder;
}

/** A digest of what the bundle is made of, and of what makes it. */
function digestOfSources(): string {
  const hash = createHash("sha256");
  const paths = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" }).filter((path) => /\.\w+$/.test(path));
  for (const path of ["package-lock.json", "scripts/bundle.ts", ...paths.map((path) => join("src", path)).toSorted()]) {
    const content = readFileSync(join(ROOT, path));
    hash.update(`${path}\0${content.length}\0`).update(content);
  }
  return hash.digest("hex").slice(0, 32);
}
