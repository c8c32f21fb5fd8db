import { isInside } from "../../../lib/path-inside.ts";
import type { Program } from "./sandbox.ts";

/** One thing that a program of a box sees, at a place of the box's root. */
export type Mount =
  | { readonly kind: "read-only" | "writable"; readonly source: string; readonly target: string }
  | { readonly kind: "link"; readonly to: string; readonly target: string }
  /** Nothing, where there is something: for what a program may not read. */
  | { readonly kind: "empty folder" | "empty file"; readonly target: string }
  /** A folder in memory, of at most so many bytes. */
  | { readonly kind: "memory"; readonly bytes: number; readonly target: string };

/** The descriptors by which bubblewrap and what it starts speak with the server. 3 is that of the program's group. */
export const DESCRIPTORS = { arguments: 4, filter: 5, start: 6, ready: 7, info: 8, channel: 9 } as const;

/** The file in a box in which its launcher finds what to start. */
export const START_FILE = "/.start";

/** A box, all but its program. */
export type Box = {
  /** The mounts that the program sees besides the system's own: `/proc`, `/dev`. Places inside of others come after them, in whatever order they stand here. */
  readonly mounts: readonly Mount[];
  /** A file that is empty. */
  readonly emptyFile: string;
  /** The bytes that files in shared memory may have. */
  readonly sharedMemory: number;
};

/**
 * The arguments of bubblewrap that make a box, for its `--args`: they stand in no list of processes. The program sees the
 * mounts, its own `/proc` and a few devices; it is in namespaces of its own, has no rights but those of its user, and dies
 * with the process that made the box. All of `/proc` is read-only: what a user of the id 0 owns there are the settings of
 * the whole machine.
 */
export function bubblewrapArguments(
  { folder }: Pick<Program, "folder">,
  { mounts, emptyFile, sharedMemory }: Box,
): readonly string[] {
  const placed = mounts.toSorted((one, other) => (one.target < other.target ? -1 : 1));
  return [
    ...["user", "pid", "ipc", "uts", "net"].map((namespace) => `--unshare-${namespace}`),
    "--unshare-cgroup-try",
    "--die-with-parent",
    "--new-session",
    "--as-pid-1",
    ...words("--cap-drop ALL --hostname box --clearenv --setenv PATH /usr/bin:/bin"),
    ...words(`--perms 0400 --file ${DESCRIPTORS.start} ${START_FILE}`),
    ...placed.flatMap((mount) => mountArguments(mount, emptyFile)),
    ...words("--proc /proc --remount-ro /proc"),
    ...words(`--dev /dev --perms 1777 --size ${sharedMemory} --tmpfs /dev/shm --remount-ro /dev`),
    // What was made empty takes in nothing, once what lies in it is mounted.
    ...placed.flatMap((mount) => (mount.kind === "empty folder" ? ["--remount-ro", mount.target] : [])),
    "--remount-ro",
    "/",
    "--chdir",
    folder,
    ...words(`--seccomp ${DESCRIPTORS.filter} --info-fd ${DESCRIPTORS.info}`),
  ];
}

/** Arguments in which no word is a path or a text of others. */
function words(text: string): readonly string[] {
  return text.split(" ");
}

function mountArguments(mount: Mount, emptyFile: string): readonly string[] {
  switch (mount.kind) {
    case "read-only":
      return ["--ro-bind", mount.source, mount.target];
    case "writable":
      return ["--bind", mount.source, mount.target];
    case "link":
      return ["--symlink", mount.to, mount.target];
    case "empty folder":
      return ["--tmpfs", mount.target];
    case "empty file":
      return ["--ro-bind", emptyFile, mount.target];
    case "memory":
      return ["--perms", "1777", "--size", String(mount.bytes), "--tmpfs", mount.target];
  }
}

/** True if a program of a box sees what is at a path: the mount that is nearest above it shows it. */
export function isSeen(mounts: readonly Mount[], path: string): boolean {
  const above = mounts
    .filter(({ target }) => isInside(target, path))
    .toSorted((one, other) => other.target.length - one.target.length);
  const [nearest] = above;
  return nearest !== undefined && (nearest.kind === "read-only" || nearest.kind === "writable");
}

/** Arguments as `--args` reads them. */
export function argumentBytes(args: readonly string[]): Buffer {
  return Buffer.from(args.map((argument) => `${argument}\0`).join(""));
}
