import { existsSync, lstatSync, readlinkSync, realpathSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isInside } from "../../../lib/path-inside.ts";
import type { Program } from "./sandbox.ts";

export type Mount =
  | { readonly kind: "read-only" | "writable"; readonly source: string; readonly target: string }
  | { readonly kind: "link"; readonly to: string; readonly target: string }
  | { readonly kind: "empty folder" | "empty file"; readonly target: string }
  | { readonly kind: "memory"; readonly bytes: number; readonly target: string };

/** The descriptors of bubblewrap and the launcher for the server. 3 is that of the process group. */
export const DESCRIPTORS = { arguments: 4, filter: 5, start: 6, ready: 7, info: 8, channel: 9 } as const;

export const START_FILE = "/.start";

export type Box = {
  /** The mounts without the system's `/proc` and `/dev`, in any order: nested places are mounted last. */
  readonly mounts: readonly Mount[];
  readonly emptyFile: string;
  readonly sharedMemory: number;
};

/**
 * Bubblewrap's arguments for a box, for `--args`, which hides them from lists of processes. The program sees the
 * mounts, its own `/proc` and a few devices. It is in separate namespaces, has only its user's rights, and dies with
 * the process that made the box. All of `/proc` is read-only: its files of user id 0 are settings of the whole machine.
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
    // An empty mount becomes read-only after the mounts inside of it.
    ...placed.flatMap((mount) => (mount.kind === "empty folder" ? ["--remount-ro", mount.target] : [])),
    "--remount-ro",
    "/",
    "--chdir",
    folder,
    ...words(`--seccomp ${DESCRIPTORS.filter} --info-fd ${DESCRIPTORS.info}`),
  ];
}

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

export function isSeen(mounts: readonly Mount[], path: string): boolean {
  const above = mounts
    .filter(({ target }) => isInside(target, path))
    .toSorted((one, other) => other.target.length - one.target.length);
  const [nearest] = above;
  return nearest !== undefined && (nearest.kind === "read-only" || nearest.kind === "writable");
}

export function argumentBytes(args: readonly string[]): Buffer {
  return Buffer.from(args.map((argument) => `${argument}\0`).join(""));
}

/** Folders of the system's programs and libraries. On most systems all but the first are links into it. */
const PROGRAMS = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"];

/** The read-only part of the system in every box: programs, libraries, and the running Node. */
export function systemRoot(node = process.execPath): readonly Mount[] {
  return [...PROGRAMS.flatMap(programFolder), ...nodeMounts(realpathSync(node))];
}

function programFolder(path: string): readonly Mount[] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return [];
  return found.isSymbolicLink()
    ? [{ kind: "link", to: readlinkSync(path), target: path }]
    : [{ kind: "read-only", source: path, target: path }];
}

function nodeMounts(node: string): readonly Mount[] {
  if (node.startsWith("/usr/")) return [];
  const programs = dirname(node);
  const packages = join(dirname(programs), "lib", "node_modules");
  const links = ["npm", "npx", "corepack"].map((name) => join(programs, name));
  const isLink = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return [
    { kind: "read-only", source: node, target: node },
    ...(existsSync(packages)
      ? [
          { kind: "read-only" as const, source: packages, target: packages },
          ...links.filter(isLink).map((target) => ({ kind: "link" as const, to: readlinkSync(target), target })),
        ]
      : []),
  ];
}

/** `O_CLOEXEC`: a descriptor with this flag is closed in programs that are started. */
const CLOSED_ON_START = 0o2000000;
const ONE_DIGIT = 9;

/** The inherited descriptors above 9, which programs would inherit. Node opens none such. */
export function inheritedDescriptors(): readonly number[] {
  return readdirSync("/proc/self/fd")
    .map(Number)
    .filter((descriptor) => descriptor > ONE_DIGIT && !isClosedOnStart(descriptor));
}

function isClosedOnStart(descriptor: number): boolean {
  try {
    const [, flags = "0"] = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8")) ?? [];
    return (Number.parseInt(flags, 8) & CLOSED_ON_START) !== 0;
  } catch {
    // The descriptor of the list itself.
    return true;
  }
}

export function launcherShell(inherited: readonly number[]): readonly [file: string, ...options: string[]] {
  return inherited.length > 0 && existsSync("/bin/bash") ? ["/bin/bash", "--posix"] : ["/bin/sh"];
}
