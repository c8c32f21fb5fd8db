import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";

/** `npm run console:texts`: writes the texts of the console's sources into its catalogs. */
const CONSOLE = resolve(import.meta.dirname, "../console");

/** Brings the catalogs up to date. Texts that no source has any more are removed. */
export function extractTexts(): void {
  const lingui = join(CONSOLE, "../node_modules/@lingui/cli/dist/lingui.js");
  const { status, stdout, stderr } = spawnSync(process.execPath, [lingui, "extract", "--clean"], {
    cwd: CONSOLE,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`the texts of the console could not be extracted:\n${stdout}${stderr}`);
}

if (import.meta.main) extractTexts();
