import { DESCRIPTORS, START_FILE } from "./bubblewrap-arguments.ts";
import { OPENS_PORT, PROXY_VARIABLES } from "../network/listener.ts";
import type { Program } from "./sandbox.ts";

/** The parts of a launcher that differ. */
type LauncherParts = {
  /** The commands that set the box's limits. */
  readonly limits: string;
  /** Descriptors that the server itself has inherited, and that would reach the program. */
  readonly inherited: readonly number[];
  /** The Node that opens the port of the call's proxy; null if the program reaches no network. */
  readonly portOpener: string | null;
};

/**
 * The first program of a box, as a script of a shell: closes what the program must not have, sets the limits, says that the
 * box is made, and starts the program once the server says so. It stays as the first process of the box, so that all of the box ends with the
 * program, and that bubblewrap ends only when nothing of the box runs. The script runs with none of the program's
 * variables: one such as LD_PRELOAD would run before the limits are set.
 */
export function launcher({ limits, inherited, portOpener }: LauncherParts): string {
  const { arguments: args, filter, start, info, channel, ready } = DESCRIPTORS;
  const closed = (descriptors: readonly number[]): string => descriptors.map((each) => `${each}<&-`).join(" ");
  return [
    `exec ${closed([args, filter, start, info, ...inherited])}`,
    // A shell that cannot close a descriptor leaves it open: then nothing is started.
    'for open in /proc/self/fd/*; do [ "${open##*/}" -le 9 ] || [ ! -e "$open" ] || exit 125; done',
    ...(portOpener === null ? [] : [`${opensPort(portOpener)} || exit 123`]),
    `exec ${closed([channel])}`,
    `${limits} || exit 124`,
    `echo ready >&${ready} && read -r go <&${ready} || exit 126`,
    `exec ${ready}>&- 3>&2 2>/dev/null`,
    `( . ${START_FILE}; exec /usr/bin/env -i -- "$@" ) 2>&3 3>&-`,
    "exit $?",
  ].join("\n");
}

/** The command that opens the port: Node is told of its channel by variables. */
function opensPort(node: string): string {
  const variables = `NODE_CHANNEL_FD=${DESCRIPTORS.channel} NODE_CHANNEL_SERIALIZATION_MODE=json`;
  return `/usr/bin/env -i ${variables} ${quoted(node)} -e ${quoted(OPENS_PORT)} </dev/null >/dev/null`;
}

/** The file that the launcher reads: the variables and words of the program, as the launcher's own arguments. */
export function startFile({ argv, env, folder, network }: Pick<Program, "argv" | "env" | "folder" | "network">): string {
  const variables = Object.entries({
    PWD: folder,
    // Otherwise npm asks its registry whether it is the newest itself, and a person would be asked about the registry.
    npm_config_update_notifier: "false",
    ...(network === null ? {} : PROXY_VARIABLES),
    ...env,
    ...(env["TMPDIR"] === undefined ? {} : { TMPDIR: "/tmp" }),
  });
  const words = [...variables.map(([name, value]) => `${name}=${value}`), ...argv];
  return `set -- ${words.map(quoted).join(" ")}\n`;
}

/** A text as one word of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
