import { readFileSync } from "node:fs";
import { lstat } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { isInside } from "../../lib/path-inside.ts";

/** A file system, as the machine has mounted it. */
export type MountedFolder = { readonly path: string; readonly type: string };

/** The file systems of disks and memory of this machine. All others may wait for another machine, or for a program, without end. */
const LOCAL = new Set(
  "apfs aufs bcachefs btrfs cramfs devtmpfs erofs exfat ext2 ext3 ext4 f2fs hfs iso9660 jfs ntfs3 overlay proc ramfs reiserfs squashfs sysfs tmpfs udf vfat xfs zfs".split(
    " ",
  ),
);

/** The time in which a file system must answer, in ms: one that is only busy does. */
const BOUND_MS = 2_000;
/** The time for which the list of mounts is remembered, in ms. */
const LIST_MS = 1_000;
/** The time between two looks at a file system that answered too late, in ms. */
const AGAIN_MS = 1_000;

/** Says to people that the file system of a folder does not answer. */
export function folderHung(folder: string): string {
  return `the file system of ${folder} does not answer: try again when it does`;
}

/** By what folders are looked at: tests give their own. */
export type FolderLooks = {
  /** Looks at a folder; resolves or rejects when its file system has answered. */
  readonly look: (folder: string) => Promise<unknown>;
  /** The mounts of this machine; null where nobody can say. */
  readonly mounts: () => readonly MountedFolder[] | null;
  readonly boundMs: number;
};

/**
 * Which folders of agents answer. A file system of another machine (NFS, SMB) or of a program (FUSE) may hang: whoever asks it waits
 * without end, and the event loop of the server with them. So one look in the background goes first; while a file system does not
 * answer it, nobody else is asked anything there, and only agents of its folders wait.
 */
export class AnsweringFolders {
  readonly #looks: FolderLooks;
  /** The looks that are under way, by their mounts: one each, since each holds a thread until it is answered. */
  readonly #looking = new Map<string, Promise<void>>();
  /** Those that took too long. */
  readonly #hung = new Set<string>();
  #mounts: { readonly at: number; readonly list: readonly MountedFolder[] | null } | null = null;

  constructor(looks: Partial<FolderLooks> = {}) {
    this.#looks = { look: lstat, mounts: mountsOfMachine, boundMs: BOUND_MS, ...looks };
  }

  /** The number of file systems that do not answer. */
  get hung(): number {
    return this.#hung.size;
  }

  /** True if the file system of a folder answers now, also by an error. At once for those of this machine's own disks. */
  async answers(folder: string): Promise<boolean> {
    const mount = this.#mountOf(folder);
    if (mount === null) return true;
    if (this.#hung.has(mount)) return false;
    const looking = this.#looking.get(mount) ?? this.#look(mount, folder);
    const bound = new AbortController();
    const late = delay(this.#looks.boundMs, "late" as const, { signal: bound.signal, ref: false }).catch(() => null);
    const first = await Promise.race([looking, late]);
    bound.abort();
    if (first !== "late") return true;
    if (this.#looking.get(mount) === looking) this.#hung.add(mount);
    return false;
  }

  /** Resolves with true when the file system of a folder answers; with false when `signal` aborts first. */
  async answering(folder: string, signal: AbortSignal): Promise<boolean> {
    for (;;) {
      if (await this.answers(folder)) return true;
      if (signal.aborted) return false;
      await delay(AGAIN_MS, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  #look(mount: string, folder: string): Promise<void> {
    const answered = (): void => {
      this.#looking.delete(mount);
      this.#hung.delete(mount);
    };
    const looking = this.#looks.look(folder).then(answered, answered);
    this.#looking.set(mount, looking);
    return looking;
  }

  /** The mount in which a folder lies, if it may hang; null if not. */
  #mountOf(folder: string): string | null {
    const now = performance.now();
    if (this.#mounts === null || now - this.#mounts.at > LIST_MS) this.#mounts = { at: now, list: this.#looks.mounts() };
    const { list } = this.#mounts;
    if (list === null) return folder;
    // Of several at one place, the last one is seen.
    const found = list.findLast(({ path }) => isInside(path, folder));
    return found === undefined || LOCAL.has(found.type) ? null : found.path;
  }
}

/** The mounts of this machine, those that lie in others behind them (proc(5), `mountinfo`); null where there is no such list. */
function mountsOfMachine(): readonly MountedFolder[] | null {
  let text: string;
  try {
    text = readFileSync("/proc/self/mountinfo", "utf8");
  } catch {
    return null;
  }
  const mounts = text.split("\n").flatMap((line) => {
    const [, , , , path] = line.split(" ");
    const [, type] = / - (\S+) /.exec(line) ?? [];
    return path === undefined || type === undefined ? [] : [{ path: unescaped(path), type }];
  });
  return mounts.toSorted((one, other) => one.path.length - other.path.length);
}

/** Spaces and such are written as octal numbers. */
function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_match, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
