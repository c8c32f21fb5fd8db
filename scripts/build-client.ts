import { execFile } from "node:child_process";
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

const CLIENT = resolve(import.meta.dirname, "../clients");

/** The parts of a package's description that the built package changes. */
type Description = { readonly exports: Readonly<Record<string, string>>; readonly private?: boolean };

/** `npm run build:client [folder]`: writes the client package, as ES modules with their types, ready for `npm pack`. */
await buildClient(resolve(process.argv[2] ?? join(CLIENT, "dist")));

async function buildClient(folder: string): Promise<void> {
  await refuseOthers(folder);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const compiler = resolve(CLIENT, "../node_modules/typescript/bin/tsc");
  await promisify(execFile)(process.execPath, [compiler, "-p", CLIENT, "--outDir", folder]);
  const { private: _, ...description } = JSON.parse(await readFile(join(CLIENT, "package.json"), "utf8")) as Description;
  const exports = Object.fromEntries(Object.entries(description.exports).map(([name, source]) => [name, builtFrom(source)]));
  await writeFile(join(folder, "package.json"), `${JSON.stringify({ ...description, exports }, null, 2)}\n`);
  await copyFile(join(CLIENT, "README.md"), join(folder, "README.md"));
  await copyFile(join(CLIENT, "../LICENSE"), join(folder, "LICENSE"));
  console.log(`wrote ${folder}`);
}

/** Throws if the folder has something in it that is no build of this package: it would be removed. */
async function refuseOthers(folder: string): Promise<void> {
  const names: readonly string[] = await readdir(folder).catch(() => []);
  const known: unknown = JSON.parse(await readFile(join(folder, "package.json"), "utf8").catch(() => "{}"));
  const isBuild = names.includes("index.d.ts") && JSON.stringify(known).includes('"@triplane/client"');
  if (names.length > 0 && !isBuild)
    throw new Error(`${folder} has other files in it: name an empty folder, or one that is not there`);
}

/** The module and its types that a source file becomes. */
function builtFrom(source: string): { readonly types: string; readonly default: string } {
  const path = source.replace("./src/", "./").replace(/\.ts$/, "");
  return { types: `${path}.d.ts`, default: `${path}.js` };
}
