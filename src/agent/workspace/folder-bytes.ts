import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "../../lib/text.ts";

/**
 * The bytes of the files in a folder, counted up to about `most`. Unreadable and disappearing files count as empty.
 * Links are not followed.
 */
export async function folderBytes(folder: string, most: number): Promise<number> {
  let bytes = 0;
  const folders = [folder];
  for (let each = folders.pop(); each !== undefined && bytes <= most; each = folders.pop())
    for (const entry of await readdir(each, { withFileTypes: true }).catch(passedOver([]))) {
      const path = join(each, entry.name);
      if (entry.isDirectory()) folders.push(path);
      else bytes += (await lstat(path).catch(passedOver({ size: 0 }))).size;
    }
  return bytes;
}

function passedOver<Value>(instead: Value): (error: unknown) => Value {
  return (error) => {
    if (["ENOENT", "ENOTDIR", "EACCES", "EPERM", "ENAMETOOLONG", "ELOOP"].includes(errorCode(error) ?? "")) return instead;
    throw error;
  };
}
