import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, extname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { build } from "vite";
import { consoleFolder } from "../src/server/console/sources.ts";

/** `node scripts/console.ts [FOLDER]`: builds the console, with each file compressed beside it. Without FOLDER where servers look for it. */
const ROOT = resolve(import.meta.dirname, "..");
const COMPRESSED = new Set([".html", ".js", ".css", ".json", ".svg"]);
/** Builds of other versions are removed so many days after they were made. */
const KEPT_DAYS = 7;
const DAY_MS = 24 * 60 * 60 * 1_000;

const folder = resolve(process.argv[2] ?? (await consoleFolder()));
if (!existsSync(folder)) {
  await buildConsole(folder);
  await removeOld(dirname(folder));
}

/** Builds beside the folder, which gets its name when it is whole. */
async function buildConsole(folder: string): Promise<void> {
  const making = `${folder}-making-${process.pid}`;
  try {
    await build({ root: join(ROOT, "console"), logLevel: "warn", build: { outDir: making, emptyOutDir: true } });
    const entries = await readdir(making, { recursive: true, withFileTypes: true });
    await Promise.all(
      entries
        .filter((entry) => entry.isFile() && COMPRESSED.has(extname(entry.name)))
        .map(({ parentPath, name }) => compress(join(parentPath, name))),
    );
    await mkdir(dirname(folder), { recursive: true });
    // Another process may have built the same one.
    await rename(making, folder).catch(async () => cp(making, folder, { recursive: true }));
  } finally {
    await rm(making, { recursive: true, force: true });
  }
}

async function compress(path: string): Promise<void> {
  const content = await readFile(path);
  const best = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };
  await Promise.all([
    promisify(brotliCompress)(content, best).then((bytes) => writeFile(`${path}.br`, bytes)),
    promisify(gzip)(content, { level: constants.Z_BEST_COMPRESSION }).then((bytes) => writeFile(`${path}.gz`, bytes)),
  ]);
}

async function removeOld(builds: string): Promise<void> {
  for (const name of await readdir(builds)) {
    const path = join(builds, name);
    const isOther = path !== folder && /^[0-9a-f]{32}(-making-\d+)?$/.test(name);
    if (isOther && (await stat(path)).mtimeMs < Date.now() - KEPT_DAYS * DAY_MS) await rm(path, { recursive: true, force: true });
  }
}
