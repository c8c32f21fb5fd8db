import { realpathSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { COPIES } from "../db/copies/private-copies.ts";
import type { Environment } from "./environment.ts";

const ROOT = realpathSync(fileURLToPath(new URL("../..", import.meta.url)));
const SOURCES = ["src", "prisma", "scripts", "clients", "node_modules", ".git", ".triplane", "package.json", "package-lock.json"];
const ENVIRONMENT = [".env", ".env.local", ".env.production", ".env.development"];

export function closedFolders({ dataFolder, programsFolder, configPath, folder }: Environment): string[] {
  const sources = SOURCES.map((name) => join(ROOT, name));
  const environments = [ROOT, realFolder(folder)].flatMap((place) => ENVIRONMENT.map((name) => join(place, name)));
  // Each part of the data folder is closed as well: a workspace below it opens only the folder.
  const data = ["", "outputs", "sandbox", "pglite", COPIES, "triplane.lock", "triplane.owner"].map((name) =>
    join(realFolder(dataFolder), name),
  );
  const programs = programsFolder === dataFolder ? [] : [realFolder(programsFolder)];
  return [...sources, ...environments, ...data, ...programs, realFolder(configPath)];
}

export function realFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
