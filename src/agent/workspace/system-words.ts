import { errorCode } from "../../lib/error-code.ts";

const IN_WORDS: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  EISDIR: "is a folder",
  ENOTDIR: "is no folder, or lies in something that is none",
  EACCES: "may not be opened by the server",
  EPERM: "may not be changed by the server",
  EEXIST: "is there already",
  ENOTEMPTY: "is a folder that is not empty",
  ENOSPC: "could not be written: the disk is full",
  ENAMETOOLONG: "has a name that is too long for the system",
  ELOOP: "has a link in its path that leads back to itself",
};

export function systemWords(error: unknown): string | null {
  return IN_WORDS[errorCode(error) ?? ""] ?? null;
}
