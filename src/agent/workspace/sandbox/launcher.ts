import { DESCRIPTORS, START_FILE } from "./bubblewrap-arguments.ts";
import { OPENS_PORT, PROXY_VARIABLES } from "../network/listener.ts";
import type { Program } from "./sandbox.ts";

type LauncherParts = {
  readonly limits: string;
  readonly inherited: readonly number[];
  /** The Node that opens the port of the call's proxy; null without a network. */
  readonly portOpener: string | null;
};

/**
 * The first program of a box, a shell script. It closes descriptors, sets the limits, reports the box as made, and
 * starts the program at the server's signal. It stays as the first process, so that the box ends with the program, and
 * bubblewrap ends last. It runs without the program's variables: LD_PRELOAD and others would act before the limits are
 * set.
 */
export function launcher({ limits, inherited, portOpener }: LauncherParts): string {
  const { arguments: args, filter, start, info, channel, ready } = DESCRIPTORS;
  const closed = (descriptors: readonly number[]): string => descriptors.map((each) => `${each}<&-`).join(" ");
  return [
    `exec ${closed([args, filter, start, info, ...inherited])}`,
    // A shell that cannot close a descriptor leaves it open: then the program is not started.
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

function opensPort(node: string): string {
  const variables = `NODE_CHANNEL_FD=${DESCRIPTORS.channel} NODE_CHANNEL_SERIALIZATION_MODE=json`;
  return `/usr/bin/env -i ${variables} ${quoted(node)} -e ${quoted(OPENS_PORT)} </dev/null >/dev/null`;
}

export function startFile({ argv, env, folder, network }: Pick<Program, "argv" | "env" | "folder" | "network">): string {
  const variables = Object.entries({
    PWD: folder,
    // Otherwise npm checks its registry for updates, and a person would be asked about the registry.
    npm_config_update_notifier: "false",
    ...(network === null ? {} : PROXY_VARIABLES),
    ...env,
    ...(env["TMPDIR"] === undefined ? {} : { TMPDIR: "/tmp" }),
  });
  const words = [...variables.map(([name, value]) => `${name}=${value}`), ...argv];
  return `set -- ${words.map(quoted).join(" ")}\n`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
