import { lstat, readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";

/** All that lies in a folder, with what is in it. */
export async function listing(folder: string): Promise<string> {
  const names = (await readdir(folder, { recursive: true })).toSorted();
  const lines = await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      const found = await lstat(path);
      if (found.isSymbolicLink()) return `${name} -> ${await readlink(path)}`;
      return found.isDirectory() ? `${name}/` : `${name}: ${await readFile(path, "utf8")}`;
    }),
  );
  return lines.join("\n");
}
