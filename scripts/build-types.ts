import { execFile } from "node:child_process";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

const ROOT = resolve(import.meta.dirname, "..");
/** The declarations of the package `triplane`: editors of configurations read them in the place of the sources. */
const TYPES = join(ROOT, ".triplane/types");

/** `npm run build:types`: writes the declarations of `triplane`, whatever target and lib those who read them have. */
const making = await mkdtemp(join(ROOT, ".triplane/types-"));
const project = join(making, "tsconfig.json");
const compilerOptions = {
  noEmit: false,
  declaration: true,
  emitDeclarationOnly: true,
  stripInternal: true,
  rewriteRelativeImportExtensions: true,
  rootDir: join(ROOT, "src"),
  outDir: join(making, "out"),
  typeRoots: [join(ROOT, "node_modules/@types")],
};
try {
  const extended = { extends: join(ROOT, "tsconfig.json"), compilerOptions, files: [join(ROOT, "src/triplane.ts")], include: [] };
  await writeFile(project, JSON.stringify(extended));
  await promisify(execFile)(process.execPath, [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", project]);
  await rm(TYPES, { recursive: true, force: true });
  await rename(join(making, "out"), TYPES);
  console.log(`wrote ${join(TYPES, "triplane.d.ts")}`);
} finally {
  await rm(making, { recursive: true, force: true });
}
