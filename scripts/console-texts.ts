import { spawnSync } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";

/** `npm run console:texts`: writes the texts of the console's sources into its catalogs. */
const CONSOLE = resolve(import.meta.dirname, "../console");
const CATALOGS = join(CONSOLE, "src/locales");
const LINGUI = join(CONSOLE, "../node_modules/@lingui/cli/dist/lingui.js");

/** Brings the catalogs up to date. Texts that no source has any more are removed. */
function extractTexts(): void {
  const { status, stdout, stderr } = spawnSync(process.execPath, [LINGUI, "extract", "--clean"], {
    cwd: CONSOLE,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`the texts of the console could not be extracted:\n${stdout}${stderr}`);
}

/** The catalogs that are not up to date, and the texts without a translation. The files stay as they are. */
export async function textProblems(): Promise<readonly string[]> {
  const names = (await readdir(CATALOGS)).filter((name) => name.endsWith(".po"));
  const committed = new Map(await Promise.all(names.map(async (name) => [name, await contentOf(name)] as const)));
  extractTexts();
  const problems: string[] = [];
  for (const [name, content] of committed) {
    const extracted = await contentOf(name);
    if (extracted !== content) {
      await writeFile(join(CATALOGS, name), content);
      problems.push(`${name} is not up to date: run \`npm run console:texts\`, translate, and commit it`);
    }
    for (const text of untranslated(content)) problems.push(`${name} has no translation of "${text}"`);
  }
  return problems;
}

/** The texts of a catalog without a translation. */
export function untranslated(catalog: string): readonly string[] {
  return [...catalog.matchAll(/^msgid "(.+)"\nmsgstr ""$/gm)].map(([, text = ""]) => text);
}

async function contentOf(name: string): Promise<string> {
  return readFile(join(CATALOGS, name), "utf8");
}

if (import.meta.main) extractTexts();
