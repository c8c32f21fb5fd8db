import { counted } from "../../lib/counted.ts";
import type { JsonObject } from "../../lib/json.ts";

export type LeftOut = {
  secrets: number;
  hidden: number;
  readonly folders: Set<string>;
  large: number;
  binary: number;
  /** Links to folders, which are not followed, and links to files outside of the pattern. */
  links: number;
  unreadable: number;
};

export function nothingLeftOut(): LeftOut {
  return { secrets: 0, hidden: 0, folders: new Set(), large: 0, binary: 0, links: 0, unreadable: 0 };
}

/** The note for the model about the exclusions of a search; empty without any. `hint` says how hidden names are reached. */
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

export function leftOutDetails({ folders, ...counts }: LeftOut): JsonObject {
  return { ...counts, folders: [...folders] };
}
