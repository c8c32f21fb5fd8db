import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** A process of a trial, and what it said when it was ready. */
export type TrialProcess = { readonly child: ChildProcess; readonly said: string };

const running = new Set<ChildProcess>();

/** Starts a file of the project and waits until its output matches. What it writes to stderr is shown. */
export async function start(file: string, ready: RegExp, env: Readonly<Record<string, string>> = {}): Promise<TrialProcess> {
  const child = spawn(process.execPath, [fileURLToPath(new URL(`../${file}`, import.meta.url))], {
    env: { ...process.env, ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  running.add(child);
  child.once("exit", () => running.delete(child));
  let output = "";
  for await (const chunk of child.stdout.setEncoding("utf8") as AsyncIterable<string>) {
    output += chunk;
    const match = ready.exec(output);
    if (match !== null) {
      child.stdout.resume();
      return { child, said: match[0].trim() };
    }
  }
  throw new Error(`${file} ended before it was ready:\n${output}`);
}

/** Ends every process that the trial started, the newest first, and waits for them. */
export async function endAll(): Promise<void> {
  for (const child of [...running].toReversed()) {
    const ended = once(child, "exit");
    child.stdin?.end();
    child.kill("SIGTERM");
    await ended;
  }
}

/** An operation over HTTP; rejects where it answers errors. */
export async function ask<Data>(url: string, query: string, variables: object = {}): Promise<Data> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = (await response.json()) as { data?: Data; errors?: unknown };
  if (data === undefined || errors !== undefined) throw new Error(JSON.stringify(errors));
  return data;
}
