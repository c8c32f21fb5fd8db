import { mkdir, open, readdir } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown, type OutputAsset, type OutputChunk, type OutputOptions, type Plugin } from "rolldown";

/**
 * `node scripts/bundle.ts FOLDER`: writes the server as a few files, `main.js` the first of them, into FOLDER, which must
 * lie as deep in the checkout as it will when it runs. Packages are bundled with it, and are the greater part of what a
 * start reads. See docs/adr/0022.
 *
 * With `--modules`, each module of `src` is found in FOLDER by its name: the servers of trials load those (trials/bundle.ts).
 */
const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SRC = join(ROOT, "src/");
const hasModules = process.argv.includes("--modules");

/**
 * Packages that stay in node_modules: the embedded database and Prisma's compiler of queries find their WebAssembly beside
 * themselves; the others are read only when somebody needs them.
 */
const EXTERNAL = [
  /^@electric-sql\/pglite/,
  /^@prisma\/client\/runtime\/query_compiler/,
  "@anthropic-ai/sdk",
  "@modelcontextprotocol/client",
  "openai",
  "@graphql-yoga/render-graphiql",
];
/** The chunk of all packages. It has no source map: those of 1,000 files would take longer to read than a bundle saves. */
const PACKAGES = "packages";

const GROUP_OF_PACKAGES = { name: PACKAGES, test: /\/node_modules\// };

/** The form of the server's bundle. */
const SMALL: OutputOptions = {
  sourcemap: true,
  // The sources are there.
  sourcemapExcludeSources: true,
  // Names stay as they are: libraries ask for them, and so do the readers of stack traces.
  minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
  codeSplitting: { groups: [GROUP_OF_PACKAGES] },
};

/** Modules share one file, but those that run something when they are loaded. Its lines are readable without a source map. */
const MODULES: OutputOptions = {
  entryFileNames: "[name].js",
  codeSplitting: { groups: [GROUP_OF_PACKAGES, { name: "sources", test: /\/src\/(?!main\.ts$|.*-worker\.ts$)/ }] },
};

await write(resolve(process.argv[2] ?? ""));

async function write(folder: string): Promise<void> {
  const bundle = await rolldown({
    cwd: ROOT,
    input: hasModules ? await allModules() : { main: join(SRC, "main.ts") },
    platform: "node",
    external: EXTERNAL,
    plugins: [ownPlaces(folder)],
    preserveEntrySignatures: "strict",
    onLog: (level, log) => {
      if (level === "warn") throw new Error(log.message);
    },
  });
  const { output } = await bundle.generate({
    dir: folder,
    format: "esm",
    ...(hasModules ? MODULES : SMALL),
  });
  await bundle.close();
  await mkdir(folder, { recursive: true });
  await Promise.all(
    output.filter((file) => !isMapOfPackages(file)).map((file) => onDisk(join(folder, file.fileName), contentOf(file))),
  );
}

async function allModules(): Promise<Record<string, string>> {
  const paths = await readdir(SRC, { recursive: true });
  const own = paths.filter((path) => path.endsWith(".ts") && !path.includes("generated"));
  return Object.fromEntries(own.map((path) => [nameOf(path), join(SRC, path)]));
}

/** The name of a module in the bundle, from its path below `src`. */
function nameOf(path: string): string {
  return path.replace(/\.ts$/, "").replaceAll(/[\\/]/g, ".");
}

/**
 * The meaning of `import.meta.url` in the sources, kept: a `.ts` file named by it is a module that is loaded by its address,
 * and becomes a file of the bundle beside all others; everything else is found from the place of the source.
 */
function ownPlaces(folder: string): Plugin {
  return {
    name: "own places",
    transform: {
      filter: { id: { exclude: /^\0/ }, code: /import\.meta/ },
      handler(code, id) {
        if (!id.startsWith(SRC))
          throw new Error(`${relative(ROOT, id)} asks for its own place: leave its package out of the bundle`);
        const named = code.replace(/new URL\("(\.{1,2}\/[^"]+\.ts)", import\.meta\.url\)/g, (_, path: string) => {
          const module = resolve(id, "..", path);
          const fileName = `${nameOf(relative(SRC, module))}.js`;
          if (!hasModules) this.emitFile({ type: "chunk", id: module, fileName });
          return `new URL("./${fileName}", OWN_PLACE)`;
        });
        const place = `new URL(${JSON.stringify(relative(folder, id).replaceAll("\\", "/"))}, OWN_PLACE).href`;
        const placed = named.replaceAll("import.meta.url", place);
        if (placed.includes("import.meta"))
          throw new Error(`${relative(ROOT, id)} uses import.meta for something else than import.meta.url`);
        // Only columns of these few lines change.
        return { code: placed.replaceAll("OWN_PLACE", "import.meta.url"), map: null };
      },
    },
  };
}

function isMapOfPackages(file: OutputAsset | OutputChunk): boolean {
  return file.type === "asset" && file.fileName.startsWith(`${PACKAGES}-`);
}

function contentOf(file: OutputAsset | OutputChunk): string | Uint8Array {
  if (file.type === "asset") return file.source;
  return file.name === PACKAGES ? file.code.replace(/^\/\/# sourceMappingURL=.*$/m, "") : file.code;
}

/** Writes a file, and waits until it is on the disk: a bundle is renamed to its place only then. */
async function onDisk(path: string, content: string | Uint8Array): Promise<void> {
  await using file = await open(path, "w");
  await file.writeFile(content);
  await file.sync();
}
