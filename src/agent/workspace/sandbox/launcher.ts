import { DESCRIPTORS, START_FILE } from "./bubblewrap-arguments.ts";
import type { Program } from "./sandbox.ts";

/** The parts of a launcher that differ. */
type LauncherParts = {
  /** The commands that set the box's limits. */
  readonly limits: string;
  /** Descriptors that the server itself has inherited, and that would reach the program. */
  readonly inherited: readonly number[];
};

/**
 * The first program of a box, as a script of a shell: closes what the program must not have, sets the limits, says that the
 * box is made, and starts the program. It stays as the first process of the box, so that all of the box ends with the
 * program, and that bubblewrap ends only when nothing of the box runs. The script runs with none of the program's
 * variables: one such as LD_PRELOAD would run before the limits are set.
 */
export function launcher({ limits, inherited }: LauncherParts): string {
  const { arguments: args, filter, start, info, channel, ready } = DESCRIPTORS;
  const unneeded = [args, filter, start, info, channel, ...inherited].map((descriptor) => `${descriptor}<&-`).join(" ");
  return [
    `exec ${unneeded}`,
    // A shell that cannot close a descriptor leaves it open: then nothing is started.
    'for open in /proc/self/fd/*; do [ "${open##*/}" -le 9 ] || [ ! -e "$open" ] || exit 125; done',
    `${limits} || exit 124`,
    `echo ready >&${ready}`,
    `exec ${ready}>&- 3>&2 2>/dev/null`,
    `( . ${START_FILE}; exec /usr/bin/env -i -- "$@" ) 2>&3 3>&-`,
    "exit $?",
  ].join("\n");
}

/** What the launcher reads: the variables and words of the program, as the launcher's own arguments. */
export function startFile({ argv, env, folder }: Pick<Program, "argv" | "env" | "folder">): string {
  const variables = Object.entries({ PWD: folder, ...env, ...(env["TMPDIR"] === undefined ? {} : { TMPDIR: "/tmp" }) });
  const words = [...variables.map(([name, value]) => `${name}=${value}`), ...argv];
  return `set -- ${words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ")}\n`;
}
