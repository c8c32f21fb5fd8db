import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { arch, platform } from "node:os";

/** The places of bubblewrap, a locally built one first. PATH is not searched: an agent may write in its folders. */
const PLACES = ["/usr/local/bin/bwrap", "/usr/bin/bwrap", "/bin/bwrap", "/run/current-system/sw/bin/bwrap"];

/** A working bubblewrap. `followsLinks`: it follows links at the places of its mounts (CVE-2026-87766; below 0.12). */
export type Bubblewrap = { readonly path: string; readonly version: string; readonly followsLinks: boolean };

export type Availability =
  ({ readonly isAvailable: true } & Bubblewrap) | { readonly isAvailable: false; readonly reason: string };

const LEAST = [0, 7] as const;
const SAFE = [0, 12] as const;

const PROBE_MS = 5_000;

let known: Availability | null = null;

/** The bubblewrap of this machine, found once, by making a box with a program that does nothing. */
export function availability(): Availability {
  return (known ??= look(PLACES.find((place) => existsSync(place)) ?? null));
}

export function sandboxAvailable(): boolean {
  return availability().isAvailable;
}

/** The advice to a template's author for fewer questions about command lines, with the reason if boxes are unavailable. */
export function boxAdvice(): string {
  const found = availability();
  const advice = 'in a box (sandbox: "required" with presets.workspace) command lines run unasked';
  return found.isAvailable ? advice : `${advice}, but none can be made here: ${found.reason}`;
}

function look(path: string | null): Availability {
  if (platform() !== "linux") return none(`boxes are made by bubblewrap, which exists on Linux only (this is ${platform()})`);
  if (arch() !== "x64" && arch() !== "arm64")
    return none(`there is no filter of system calls for machines of the kind ${arch()}`);
  if (path === null)
    return none("bubblewrap is not installed: install the package bubblewrap (apt install bubblewrap, dnf install bubblewrap)");
  const version = /(\d+)\.(\d+)\S*/.exec(run(path, ["--version"]).stdout);
  if (version === null) return none(`${path} does not say its version: install the package bubblewrap again`);
  const found = [Number(version[1]), Number(version[2])] as const;
  if (isBefore(found, LEAST)) return none(`bubblewrap ${version[0]} is too old: install ${LEAST.join(".")} or later`);
  const { status, stderr } = run(path, PROBE);
  if (status !== 0)
    return none(
      `bubblewrap cannot make a box (${stderr.trim()}): the system must let this user make user namespaces. Look at the sysctls kernel.unprivileged_userns_clone, user.max_user_namespaces and kernel.apparmor_restrict_unprivileged_userns; a container needs \`--security-opt seccomp=unconfined --security-opt systempaths=unconfined\``,
    );
  return { isAvailable: true, path, version: version[0], followsLinks: isBefore(found, SAFE) };
}

const PROBE =
  "--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-net --as-pid-1 --die-with-parent --new-session --cap-drop ALL --ro-bind / / --proc /proc --dev /dev --size 4096 --tmpfs /tmp -- /bin/true".split(
    " ",
  );

function run(path: string, args: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr, error } = spawnSync(path, args, { env: {}, encoding: "utf8", timeout: PROBE_MS, cwd: "/" });
  return { status, stdout: stdout ?? "", stderr: error === undefined ? stderr : error.message };
}

function none(reason: string): Availability {
  return { isAvailable: false, reason };
}

function isBefore([major, minor]: readonly [number, number], [least, of]: readonly [number, number]): boolean {
  return major < least || (major === least && minor < of);
}
