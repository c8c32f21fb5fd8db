import { counted } from "../../lib/counted.ts";
import type { JsonObject } from "../../lib/json.ts";

/** Counts what a search leaves out, by the reason. */
export type LeftOut = {
  /** Files and folders that mostly hold secrets. */
  secrets: number;
  /** Files and folders whose names begin with a dot. */
  hidden: number;
  /** Names of folders that are left out wherever they lie. */
  readonly folders: Set<string>;
  /** Files that are too large to be searched. */
  large: number;
  /** Files that hold something else than text. */
  binary: number;
  /** Links to folders, which are not entered, and links to files that the pattern does not cover. */
  links: number;
  /** Files and folders that cannot be read. */
  unreadable: number;
};

/** Nothing is left out so far. */
export function nothingLeftOut(): LeftOut {
  return { secrets: 0, hidden: 0, folders: new Set(), large: 0, binary: 0, links: 0, unreadable: 0 };
}

/** The note for the model on what a search left out; empty if that is nothing. `hint` says how hidden names are reached. */
export function leftOutNote({ secrets, hidden, folders, large, binary, links, unreadable }: LeftOut, hint: string): string {
  const parts = [
    ...(secrets === 0
      ? []
      : [
          `${secrets} ${secrets === 1 ? "file or folder that mostly holds" : "files or folders that mostly hold"} secrets (name one to read it)`,
        ]),
    ...(hidden === 0 ? [] : [`${hidden} hidden (${hint})`]),
    ...(folders.size === 0 ? [] : [`${[...folders].join(" and ")} (name the folder in the pattern)`]),
    ...(large === 0 ? [] : [`${large} too large`]),
    ...(binary === 0 ? [] : [`${binary} without text`]),
    ...(links === 0 ? [] : [`${counted(links, "link")} (name what a link leads to)`]),
    ...(unreadable === 0 ? [] : [`${unreadable} that cannot be read`]),
  ];
  return parts.length === 0 ? "" : `\n[left out: ${parts.join("; ")}]`;
}

/** The same for programs. */
export function leftOutDetails({ folders, ...counts }: LeftOut): JsonObject {
  return { ...counts, folders: [...folders] };
}
