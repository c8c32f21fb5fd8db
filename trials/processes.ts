import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { fromBundle } from "./bundle.ts";

/** A process of a trial, and what it said when it was ready. */
export type TrialProcess = {
  readonly child: ChildProcess;
  readonly said: string;
  /** Resolves with the exit code; null for one that was killed. */
  readonly exited: Promise<number | null>;
  /** Hears each line that it writes to stdout from now on. */
  onLine(listener: (line: string) => void): void;
  /** The next line that matches. Rejects if the process ends first. */
  says(pattern: RegExp): Promise<string>;
  /** Writes a line to its stdin. */
  tell(line: string): void;
  /** Ends it with SIGKILL and waits for that. */
  kill(): Promise<void>;
};

/** What a server of a trial says when it is ready. */
export const SERVER_READY = /http:\/\/127\.0\.0\.1:\d+\/graphql/;

const running = new Set<ChildProcess>();
// Even if the trial itself breaks off.
process.on("exit", () => running.forEach((child) => child.kill("SIGKILL")));

type Hear = (line: string) => void;

/**
 * Starts a file of the project (bundle.ts) and waits until a line of its output matches; `hear` is given every line, also those
 * before. What it writes to stderr is shown.
 */
export async function start(
  file: string,
  ready: RegExp,
  env: Readonly<Record<string, string>> = {},
  hear: Hear = () => {},
): Promise<TrialProcess> {
  const { options, env: ofBundle } = await fromBundle();
  const path = fileURLToPath(new URL(`../${file}`, import.meta.url));
  return spawned([...options, path], ready, { ...ofBundle, ...env }, hear, process.cwd());
}

/** The same for a file anywhere, with the folder that it belongs to as its own, from its sources. */
export async function startPath(
  path: string,
  ready: RegExp,
  env: Readonly<Record<string, string>>,
  hear: Hear,
  cwd: string,
): Promise<TrialProcess> {
  return spawned([path], ready, env, hear, cwd);
}

async function spawned(
  words: readonly string[],
  ready: RegExp,
  env: Readonly<Record<string, string>>,
  hear: Hear,
  cwd: string,
): Promise<TrialProcess> {
  const child = spawn(process.execPath, words, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["pipe", "pipe", env["TRIAL_QUIET"] === undefined ? "inherit" : "ignore"],
  });
  running.add(child);
  child.stdin.on("error", () => {});
  const exited = once(child, "exit").then(([code]) => {
    running.delete(child);
    return code as number | null;
  });
  const listeners = new Set<Hear>([hear]);
  createInterface({ input: child.stdout }).on("line", (line) => listeners.forEach((listener) => listener(line)));
  const says = (pattern: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const hear = (line: string): void => {
        const match = pattern.exec(line);
        if (match === null) return;
        listeners.delete(hear);
        resolve(match[0].trim());
      };
      listeners.add(hear);
      void exited.then(() => reject(new Error(`${words.at(-1)} ended before it said ${String(pattern)}`)));
    });
  return {
    child,
    said: await says(ready),
    exited,
    onLine: (listener) => listeners.add(listener),
    says,
    tell: (line) => child.stdin.write(`${line}\n`),
    kill: async () => {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** Ends every process that the trial started, the newest first, and waits for them. */
export async function endAll(): Promise<void> {
  for (const child of [...running].toReversed()) {
    // The trial may go on meanwhile, and have ended it itself.
    if (!running.has(child)) continue;
    const ended = once(child, "exit");
    child.stdin?.end();
    child.kill("SIGCONT");
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), 20_000);
    await ended;
    clearTimeout(timer);
  }
}

/** The token of the trial itself, if the servers ask for one. */
export const TRIAL_TOKEN = "trial";

/** What an operation may answer. */
type Answer<Data> = {
  readonly data?: Data;
  readonly errors?: readonly { readonly extensions?: { readonly code: string; readonly retryAfterMs?: number } }[];
};

/** An operation over HTTP; rejects if it answers errors. One that is told to come later does so. */
export async function ask<Data>(url: string, query: string, variables: object = {}): Promise<Data> {
  for (;;) {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${TRIAL_TOKEN}` },
      body: JSON.stringify({ query, variables }),
    });
    const { data, errors } = (await response.json()) as Answer<Data>;
    if (data !== undefined && errors === undefined) return data;
    const [refusal] = (errors ?? []).flatMap(({ extensions }) => (extensions?.code === "RATE_LIMITED" ? [extensions] : []));
    if (refusal?.retryAfterMs === undefined) throw new Error(JSON.stringify(errors));
    await delay(refusal.retryAfterMs);
  }
}
