import { realpathSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Environment } from "./environment.ts";

/** The folder of the server's own sources. */
const ROOT = realpathSync(fileURLToPath(new URL("../..", import.meta.url)));
/** The files of the server, and of the folder in which it was started, that are closed to tools. */
const SOURCES = ["src", "prisma", "scripts", "clients", "node_modules", ".git", ".triplane", "package.json", "package-lock.json"];
const ENVIRONMENT = [".env", ".env.local", ".env.production", ".env.development"];

/** Real paths of all that is the server's own, which tools do not reach. */
export function closedFolders({ dataFolder, programsFolder, configPath, folder }: Environment): string[] {
  const sources = SOURCES.map((name) => join(ROOT, name));
  const environments = [ROOT, realFolder(folder)].flatMap((place) => ENVIRONMENT.map((name) => join(place, name)));
  // Of the data, each part is closed besides: a workspace below it opens the folder, not them.
  const data = ["", "outputs", "sandbox", "pglite", "triplane.lock", "triplane.owner"].map((name) =>
    join(realFolder(dataFolder), name),
  );
  const programs = programsFolder === dataFolder ? [] : [realFolder(programsFolder)];
  return [...sources, ...environments, ...data, ...programs, realFolder(configPath)];
}

/** The real path of a folder that may not be there yet. */
export function realFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
