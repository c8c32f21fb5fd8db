import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import type { TrialRun } from "../trial.ts";
import { createHands, work, type HandsTemplate } from "./agents.ts";

/** The mark of the canaries. Programs that look for it say a pattern that takes it in, not the mark itself. */
const MARK = "canary-4711";
const PATTERN = "canary-47[1]1 [a-z-]*";

/** The text of a canary of this name. */
export function canary(name: string): string {
  return `${MARK} ${name}`;
}

/** The workspace of the agent that looks for canaries, among the others. */
const SEEKER = "workspaces/seeker";

/** Files that lie about a server, or that an agent may not read in its own workspace, by the names of their canaries. */
const FILES = {
  "another-workspace": "workspaces/other/notes.txt",
  "secrets-of-another-workspace": "workspaces/other/.env",
  "kept-output": "data/outputs/other.txt",
  "private-key": "home/.ssh/id_ed25519",
  "cloud-credentials": "home/.aws/credentials",
  "history-of-the-shell": "home/.bash_history",
  "environment-file": ".env",
  configuration: "triplane.config.ts",
  "secrets-of-the-workspace": `${SEEKER}/.env`,
  "denied-file": `${SEEKER}/denied/notes.txt`,
} as const;

/** Canaries elsewhere: with other processes, in the memory of all, and behind listening sockets. */
const ELSEWHERE = [
  "environment",
  "arguments",
  "shared-memory",
  "socket-of-a-file",
  "socket-without-a-file",
  "loopback-port",
] as const;

const CANARIES: readonly string[] = [...Object.keys(FILES), ...ELSEWHERE];

/** Lays the canaries out that are files. The server's configuration is one, which stands for `configuration`. */
export async function layOutCanaries(folder: string, configuration: string): Promise<void> {
  for (const [name, path] of Object.entries(FILES)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    const before = name === "configuration" ? `export { default } from ${JSON.stringify(configuration)};\n// ` : "";
    await writeFile(join(folder, path), `${before}${canary(name)}\n`);
  }
}

/** The place of the server's configuration. */
export function configurationIn(folder: string): string {
  return join(folder, FILES.configuration);
}

/**
 * A program looks for canaries wherever it can: in files, in the environments and the arguments of all processes, and behind
 * listening sockets. None is found from inside a box; without one (the fault) each of them is.
 */
export async function findCanaries(url: string, template: HandsTemplate, folder: string, { fail }: TrialRun): Promise<string> {
  await using placed = new AsyncDisposableStack();
  const addresses = await listen(placed, join(folder, "workspaces"));
  const shared = `/dev/shm/triplane-trial-${process.pid}`;
  await writeFile(shared, `${canary("shared-memory")}\n`);
  placed.defer(() => rm(shared, { force: true }));
  const other = spawn(process.execPath, ["-e", "setInterval(() => {}, 1_000)", canary("arguments")], { stdio: "ignore" });
  placed.defer(() => void other.kill("SIGKILL"));

  const agent = await createHands(url, template, join(folder, "workspaces"), "seeker");
  await writeFile(join(folder, SEEKER, "connect.cjs"), connecting(addresses));
  const places = template === "boxed" ? "/home /root /run /var/tmp /tmp /etc /srv /mnt /dev/shm" : shared;
  const looks = [
    `grep -rshoaE '${PATTERN}' ${folder} ${places}`,
    `for f in /proc/[0-9]*/environ /proc/[0-9]*/cmdline; do tr '\\0' '\\n' < $f; done 2>/dev/null | grep -aoE '${PATTERN}'`,
    `${process.execPath} connect.cjs`,
    `env | grep -aoE '${PATTERN}'`,
    "echo looked",
  ];
  await writeFile(join(folder, SEEKER, "look.sh"), looks.join("\n"));
  const { output } = await work(url, agent, "run sh look.sh", 120_000);
  const parts = [`tried ${addresses.length} addresses`, "looked"];
  if (!parts.every((part) => output?.includes(part))) throw new Error(`the program did not look: ${output}`);
  const found = new Set([...(output ?? "").matchAll(new RegExp(`${MARK} ([a-z-]+)`, "g"))].map(([, name = ""]) => name));
  if (template === "unboxed") {
    const missed = CANARIES.filter((name) => !found.has(name));
    if (missed.length > 0) throw new Error(`the trial does not find, without a box: ${missed.join(", ")}`);
  }
  if (found.size > 0) fail(`a program found ${found.size} canaries: ${[...found].join(", ")}`);
  return `${CANARIES.length} canaries, ${found.size} found`;
}

/** Listens behind three kinds of addresses, with a canary behind each. */
async function listen(placed: AsyncDisposableStack, folder: string): Promise<readonly (string | number)[]> {
  const open = async (name: string, address: object): Promise<string | number> => {
    const server = createServer((connection) => connection.on("error", () => {}).end(canary(name))).listen(address);
    await once(server, "listening");
    placed.defer(() => void server.close());
    const bound = server.address();
    return typeof bound === "string" ? bound : (bound as AddressInfo).port;
  };
  return [
    await open("socket-of-a-file", { path: join(folder, "canary.sock") }),
    await open("socket-without-a-file", { path: `\0triplane-trial-${process.pid}` }),
    await open("loopback-port", { port: 0, host: "127.0.0.1" }),
  ];
}

/**
 * A program that connects to each of the addresses, prints what it hears, and then how many it tried. It is run by the Node of
 * the trial: another version may write the address of a socket without a file in another way.
 */
function connecting(addresses: readonly (string | number)[]): string {
  return `const addresses = ${JSON.stringify(addresses)};
let tried = 0;
const ended = () => ++tried === addresses.length && console.log("tried", tried, "addresses");
for (const address of addresses)
  require("node:net").connect(address).on("data", (data) => console.log(String(data)))
    .on("error", (error) => console.log(error.code)).on("close", ended);`;
}
