import { execFile } from "node:child_process";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { expect, it } from "vitest";
import { temporaryFolder } from "../support/app.ts";

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, "../..");

/** What users of all parts write. */
const PROGRAM = `
import { iterate, resume, ResumeError, type ResumeStatus, type TimelineView } from "@triplane/client";
import { ResumeLink, possibleTypes, typePolicies } from "@triplane/client/apollo";
import { useTimeline } from "@triplane/client/apollo/react";
import { answerClientTools } from "@triplane/client/client-tools";
import { CONVERSATION, conversation, type Conversation } from "@triplane/client/conversation";
import { resumeSubscribe } from "@triplane/client/relay";
import { overSse } from "@triplane/client/sse";
import { childState, childrenOf, TREE, type Tree } from "@triplane/client/tree";
import { keys, resumeExchange } from "@triplane/client/urql";
import { useTimeline as useUrqlTimeline } from "@triplane/client/urql/react";
import { overWebSocket } from "@triplane/client/websocket";
import { ApolloClient, InMemoryCache } from "@apollo/client";
import { Network } from "relay-runtime";

const transport = overWebSocket({ url: "ws://127.0.0.1:1/graphql" });
const subscribe = resumeSubscribe(overSse({ url: "http://127.0.0.1:1/graphql" }));
export const network = Network.create(() => Promise.reject(new Error("no")), subscribe);
export const apollo = new ApolloClient({ link: new ResumeLink(transport), cache: new InMemoryCache({ possibleTypes, typePolicies }) });
export const exchange = [resumeExchange(transport), keys];
const counted: TimelineView<{ readonly events: readonly unknown[] }, number> = {
  document: "subscription($agentId: ID!, $since: Cursor) { timeline(agentIds: [$agentId], since: $since) { cursor caughtUp events { kind } } }",
  empty: 0,
  after: (count, page) => count + page.events.length,
};
export function shown(): [Conversation, number, ResumeStatus | null] {
  const { view, status } = useTimeline("id");
  return [view, useUrqlTimeline(null, counted).view, status];
}
export function states(): [readonly string[], Tree] {
  const { view } = useTimeline("id", TREE);
  return [childrenOf("id", view).map((child) => childState(child, view)), useUrqlTimeline("id", TREE).view];
}
export const ended = (error: unknown): boolean => error instanceof ResumeError && error.code === "CURSOR_EXPIRED";
export const items: Conversation["items"] = conversation(CONVERSATION.empty, { cursor: "1", caughtUp: true, outage: null, events: [] }).items;
export const tools = answerClientTools({
  handlers: { ask: async ({ question }: { question: string }, { signal }) => ({ question, isOver: signal.aborted }) },
  complete: async ({ callId, idempotencyKey }) => [{ code: callId, message: idempotencyKey }],
});
const page: Parameters<typeof conversation>[1] = { cursor: "1", caughtUp: true, outage: null, events: [] };
tools.take(page);
tools.follow(CONVERSATION.empty);
export { iterate, resume };

// What a declaration of the package cannot find would be \`any\`, and fit everywhere.
type IsAny<Type> = 0 extends 1 & Type ? true : false;
type Shown = ReturnType<typeof useTimeline>;
export const typed: readonly [
  IsAny<typeof iterate>, IsAny<typeof resume>, IsAny<ResumeStatus>, IsAny<TimelineView<never, never>>, IsAny<ConstructorParameters<typeof ResumeLink>[0]>,
  IsAny<typeof possibleTypes>, IsAny<typeof typePolicies>, IsAny<Shown>, IsAny<Shown["view"]>, IsAny<Conversation["items"][number]>,
  IsAny<ReturnType<typeof resumeSubscribe>>, IsAny<ReturnType<typeof overSse>>, IsAny<typeof keys>, IsAny<ReturnType<typeof resumeExchange>>,
  IsAny<ReturnType<typeof useUrqlTimeline>>, IsAny<ReturnType<typeof overWebSocket>>, IsAny<typeof tools>,
  IsAny<Tree["approvals"][number]>, IsAny<ReturnType<typeof childrenOf>>, IsAny<ReturnType<typeof states>[0]>,
] = [false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false];
`;

it("the client package installs from its archive, type-checks, and runs in an empty project", { timeout: 60_000 }, async () => {
  const folder = await temporaryFolder();
  const built = join(folder, "built");
  await run(process.execPath, ["scripts/bootstrap.mjs", "scripts/build-client.ts", built], { cwd: ROOT });
  const npm = async (...args: string[]) => (await run("npm", args, { cwd: folder })).stdout;
  const [{ filename, files }] = JSON.parse(await npm("pack", built, "--json")) as [
    { filename: string; files: { path: string }[] },
  ];
  expect(files.map(({ path }) => path)).toEqual(expect.arrayContaining(["README.md", "LICENSE", "index.js", "index.d.ts"]));
  expect(files.filter(({ path }) => path.endsWith(".ts") && !path.endsWith(".d.ts"))).toEqual([]);
  await writeFile(join(folder, "package.json"), JSON.stringify({ name: "empty", private: true, type: "module" }));
  await npm("install", "--offline", "--legacy-peer-deps", "--no-audit", "--no-fund", `./${filename}`);
  // The peers, as the project would install them.
  for (const peer of [
    "graphql",
    "graphql-ws",
    "graphql-sse",
    "@apollo/client",
    "rxjs",
    "react",
    "urql",
    "@urql/core",
    "relay-runtime",
    "@types/react",
  ]) {
    await mkdir(join(folder, "node_modules", peer, ".."), { recursive: true });
    await symlink(join(ROOT, "node_modules", peer), join(folder, "node_modules", peer));
  }
  await writeFile(join(folder, "program.ts"), PROGRAM);
  const options = {
    strict: true,
    module: "nodenext",
    target: "es2024",
    noEmit: true,
    lib: ["es2024", "dom"],
    types: [],
    skipLibCheck: true,
  };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, files: ["program.ts"] }));
  const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
  await run(process.execPath, [compiler, "-p", folder]).catch(({ stdout = "" }: { stdout?: string }) => expect.fail(stdout));
  const { exports } = JSON.parse(await readFile(join(folder, "node_modules/@triplane/client/package.json"), "utf8")) as {
    exports: Record<string, unknown>;
  };
  const names = Object.keys(exports).map((path) => path.replace(".", "@triplane/client"));
  expect(names).toHaveLength(13);
  const main = `for (const name of ${JSON.stringify(names)}) console.log(Object.keys(await import(name)).length > 0)`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", main], { cwd: folder });
  expect(stdout.trim().split("\n")).toEqual(names.map(() => "true"));
});

it("the client package is not built over a folder with other files in it", async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "notes.txt"), "mine");
  const building = run(process.execPath, ["scripts/bootstrap.mjs", "scripts/build-client.ts", folder], { cwd: ROOT });
  await expect(building).rejects.toThrow(/has other files in it: name an empty folder/);
  expect(await readFile(join(folder, "notes.txt"), "utf8")).toBe("mine");
});

it("the core of the client package is 3 KB at most, minified and compressed", async () => {
  const bundle = await rolldown({ input: join(ROOT, "clients/src/index.ts"), external: /^[^./]/ });
  const { output } = await bundle.generate({ format: "esm", minify: true });
  expect(gzipSync(output[0].code).length).toBeLessThanOrEqual(3 * 1024);
});

it("each module of the client package is in its README", async () => {
  const { exports } = JSON.parse(await readFile(join(ROOT, "clients/package.json"), "utf8")) as {
    exports: Record<string, string>;
  };
  const readme = await readFile(join(ROOT, "clients/README.md"), "utf8");
  for (const name of Object.keys(exports)) expect(readme).toContain(name === "." ? "`@triplane/client`" : `\`${name.slice(1)}\``);
});
