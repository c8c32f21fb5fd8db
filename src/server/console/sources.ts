import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** The checkout that this server runs from. */
export const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** Built consoles, one folder a version of their sources. */
const BUILT = join(ROOT, ".triplane/console");

/** The script that builds the console into a folder. */
export const BUILD_SCRIPT = join(ROOT, "scripts/console.ts");

const FOLDERS = ["console", "clients/src"];
const FILES = ["package-lock.json", "tsconfig.json", "scripts/console.ts"];

/** The folder of the console that is built from the present sources. */
export async function consoleFolder(): Promise<string> {
  return join(BUILT, await digestOfSources());
}

async function digestOfSources(): Promise<string> {
  const names = await Promise.all(FOLDERS.map(filesBelow));
  const paths = [...FILES, ...names.flat()].toSorted();
  const contents = await Promise.all(paths.map((path) => readFile(join(ROOT, path))));
  const hash = createHash("sha256");
  contents.forEach((content, index) => hash.update(`${paths[index]}\0${content.length}\0`).update(content));
  return hash.digest("hex").slice(0, 32);
}

async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(ROOT.length).replaceAll(sep, "/"))
    .filter((path) => !path.includes("node_modules/"));
}
