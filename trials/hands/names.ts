import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { PROXY_PORT } from "../../src/agent/workspace/network/listener.ts";
import type { TrialRun } from "../trial.ts";
import { createHands, work } from "./agents.ts";
import { canary } from "./canaries.ts";

const CANARY = canary("private-network");

/** The servers that names of the trial lead to: of the public internet, and of this machine. */
export type NamedServers = { readonly publicPort: number; readonly privatePort: number; readonly asked: { private: number } };

/** Starts the servers of which a program may reach only one. */
export async function startNamed(): Promise<NamedServers> {
  const asked = { private: 0 };
  const open = async (answer: () => string): Promise<number> => {
    const server = createServer((_request, response) => response.end(answer())).listen(0, "127.0.0.1");
    server.unref();
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  };
  const publicPort = await open(() => "public");
  const privatePort = await open(() => {
    asked.private += 1;
    return CANARY;
  });
  return { publicPort, privatePort, asked };
}

/** A program that asks its proxy, and this machine without one, for each of the names, twice by GET and once by CONNECT, and writes down what came of it. */
const ASKS = `const http = require("node:http");
const { appendFileSync } = require("node:fs");
const [port, ...names] = process.argv.slice(2);
const through = { host: "127.0.0.1", port: ${PROXY_PORT}, agent: false };
const say = (...words) => appendFileSync("answers.txt", words.join(" ") + "\\n");
const ask = (options) => new Promise((resolve) => {
  const asked = http.request(options);
  asked.on("error", (error) => resolve(error.code));
  asked.on("connect", (answer, socket) => {
    if (answer.statusCode !== 200) return void (socket.destroy(), resolve(answer.statusCode + " " + answer.statusMessage));
    socket.on("error", () => {});
    socket.write("GET / HTTP/1.1\\r\\nhost: x\\r\\nconnection: close\\r\\n\\r\\n");
    let said = "";
    socket.on("data", (data) => (said += data)).on("close", () => resolve(said.split("\\r\\n").join(" ")));
  });
  asked.on("response", (answer) => {
    let said = answer.statusCode + " ";
    answer.on("data", (data) => (said += data)).on("end", () => resolve(said.trim()));
  });
  asked.end();
});
(async () => {
  say("directly", await ask({ host: "127.0.0.1", port, agent: false }));
  for (const name of names) {
    const host = name + ":" + port;
    const said = await Promise.all([1, 2].map(() => ask({ ...through, path: "http://" + host + "/" })));
    say(name, ...said, await ask({ ...through, method: "CONNECT", path: host }));
  }
})();
`;

/** Names that lead to this machine or into its networks. A rule allows those of `example`. */
const INSIDE = ["inside.example", "mapped.example", "linked.example"];
const MACHINE = ["127.0.0.1", "localhost"];

/**
 * A program in a box asks for names that are allowed, public by their looks, and lead into the machine's own network, at once
 * or after they have changed their address: none is reached, and the public ones are. With the fault, a connection that goes
 * to the name and not to the address that was looked at, the private server is asked. Gives how many names were asked for.
 */
export async function askForNames(
  url: string,
  folder: string,
  { privatePort, asked }: NamedServers,
  { isShort, fail }: TrialRun,
): Promise<string> {
  const changing = Array.from({ length: isShort ? 20 : 200 }, (_none, index) => `changes-${index}.example`);
  const agent = await createHands(url, "boxed", join(folder, "workspaces"), "names");
  await writeFile(join(folder, "workspaces", "names", "asks.cjs"), ASKS);
  const names = ["public.example", "both.example", ...INSIDE, ...MACHINE, ...changing];
  const { state, output } = await work(url, agent, `run node asks.cjs ${privatePort} ${names.join(" ")}`, 120_000);
  const answers = await readFile(join(folder, "workspaces", "names", "answers.txt"), "utf8");
  const lines = new Map(answers.split("\n").map((line) => [line.split(" ")[0], line]));
  const answered = (name: string): string => lines.get(name) ?? "";
  if (state !== "COMPLETED") fail(`the program is ${state}: ${output?.slice(0, 200)}`);
  if (asked.private > 0 || answers.includes(CANARY))
    fail(`the private server was asked ${asked.private} times: ${[...lines.values()].find((line) => line.includes(CANARY))}`);
  if (answered("directly") !== "directly ECONNREFUSED") fail(`without the proxy: ${answered("directly")}`);
  for (const name of ["public.example", "both.example"])
    if (answered(name).match(/ public/g)?.length !== 3) fail(`a public name: ${answered(name)}`);
  for (const name of INSIDE)
    if (answered(name).match(/private network/g)?.length !== 3) fail(`a private name: ${answered(name)}`);
  for (const name of MACHINE) if (answered(name).match(/ 403 /g)?.length !== 3) fail(`the machine itself: ${answered(name)}`);
  for (const name of changing) if (!/private network/.test(answered(name))) fail(`a name that changes: ${answered(name)}`);
  return `${names.length} names, ${asked.private} private ones reached`;
}
