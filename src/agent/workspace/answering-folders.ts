import { readFileSync } from "node:fs";
import { lstat } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { isInside } from "../../lib/path-inside.ts";

export type MountedFolder = { readonly path: string; readonly type: string };

/**
 * The file systems of this machine's disks and memory. All others may wait for another machine, or for a program,
 * without end.
 */
const LOCAL = new Set(
  "apfs aufs bcachefs btrfs cramfs devtmpfs erofs exfat ext2 ext3 ext4 f2fs hfs iso9660 jfs ntfs3 overlay proc ramfs reiserfs squashfs sysfs tmpfs udf vfat xfs zfs".split(
    " ",
  ),
);

/** The time limit of a file system's answer, in ms: one that is only busy keeps it. */
const BOUND_MS = 2_000;
const LIST_MS = 1_000;
/** The time between two checks of a file system that answered too late, in ms. */
const AGAIN_MS = 1_000;

export function folderHung(folder: string): string {
  return `the file system of ${folder} does not answer: try again when it does`;
}

export type FolderSystem = {
  readonly look: (folder: string) => Promise<unknown>;
  readonly mounts: () => readonly MountedFolder[] | null;
  readonly boundMs: number;
};

/**
 * Finds out which agents' folders answer. A file system of another machine (NFS, SMB) or of a program (FUSE) may hang.
 * A caller then waits without end, and the server's event loop with it. So one background check goes first: until it is
 * answered, no other call goes there, and only agents with folders there wait.
 */
export class AnsweringFolders {
  readonly #system: FolderSystem;
  readonly #looking = new Map<string, Promise<void>>();
  readonly #hung = new Set<string>();
  #mounts: { readonly at: number; readonly list: readonly MountedFolder[] | null } | null = null;

  constructor(system: Partial<FolderSystem> = {}) {
    this.#system = { look: lstat, mounts: mountsOfMachine, boundMs: BOUND_MS, ...system };
  }

  get hung(): number {
    return this.#hung.size;
  }

  /** True if the file system of a folder answers, also with an error. Immediate for this machine's own disks. */
  async answers(folder: string): Promise<boolean> {
    const mount = this.#mountOf(folder);
    if (mount === null) return true;
    if (this.#hung.has(mount)) return false;
    const looking = this.#looking.get(mount) ?? this.#look(mount, folder);
    const bound = new AbortController();
    const late = delay(this.#system.boundMs, "late" as const, { signal: bound.signal, ref: false }).catch(() => null);
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
    const looking = this.#system.look(folder).then(answered, answered);
    this.#looking.set(mount, looking);
    return looking;
  }

  #mountOf(folder: string): string | null {
    const now = performance.now();
    if (this.#mounts === null || now - this.#mounts.at > LIST_MS) this.#mounts = { at: now, list: this.#system.mounts() };
    const { list } = this.#mounts;
    if (list === null) return folder;
    // Of several at one place, the last one is visible.
    const found = list.findLast(({ path }) => isInside(path, folder));
    return found === undefined || LOCAL.has(found.type) ? null : found.path;
  }
}

/** The mounts of this machine, nested ones last (proc(5), `mountinfo`); null without such a list. */
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

function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_match, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
