import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { fromBundle } from "../../trials/bundle.ts";

/** A process of the test's own, ended with it. */
export type TestProcess = {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly exited: Promise<number | null>;
  readonly says: (text: string | RegExp) => Promise<string>;
};

/** Runs a TypeScript file of the project with this Node. `file` is relative to the project's root. */
export function runFile(file: string, args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): TestProcess {
  return run(process.execPath, [pathOf(file), ...args], env);
}

/** As runFile, from a bundle of the sources, with which a server starts in two thirds of the time. */
export async function runBundled(file: string, env: Readonly<Record<string, string>>): Promise<TestProcess> {
  const { options, env: ofBundle } = await fromBundle();
  return run(process.execPath, [...options, pathOf(file)], { ...ofBundle, ...env });
}

/** As runFile, where the system lets nothing be watched: in a user namespace of its own, whose limit of inotify watches is 0. */
export function runUnwatching(file: string, env: Readonly<Record<string, string>>): TestProcess {
  const limited = 'echo 0 > /proc/sys/user/max_inotify_watches && exec "$@"';
  return run("unshare", ["--user", "--map-root-user", "sh", "-c", limited, "sh", process.execPath, pathOf(file)], env);
}

/** As runFile, with a file that may be anywhere. */
export function runPath(path: string, args: readonly string[], env: NodeJS.ProcessEnv): TestProcess {
  return run(process.execPath, [path, ...args], env);
}

/** As runFile, with a file that may be anywhere, at a terminal: by the command `script` of util-linux. What is written is typed. */
export function runAtTerminal(file: string, args: readonly string[]): TestProcess {
  const command = [process.execPath, pathOf(file), ...args].map((word) => `'${word}'`).join(" ");
  return run("script", ["--quiet", "--return", "--command", command, "/dev/null"], {});
}

/** Runs a program of the machine. */
export function runProgram(program: string, args: readonly string[]): TestProcess {
  return run(program, args, {});
}

function pathOf(file: string): string {
  return resolve(fileURLToPath(new URL("../..", import.meta.url)), file);
}

function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv): TestProcess {
  const child = spawn(command, [...args], {
    env: { ...process.env, ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let output = "";
  const listeners = new Set<() => void>();
  const hear = (chunk: string): void => {
    output += chunk;
    listeners.forEach((listener) => listener());
  };
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", hear);
  const exited = once(child, "close").then(([code]) => code as number | null);
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  return {
    child,
    output: () => output,
    exited,
    says: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const match = typeof text === "string" ? (output.includes(text) ? text : null) : text.exec(output)?.[0];
          if (match === null || match === undefined) return;
          listeners.delete(look);
          resolve(match);
        };
        listeners.add(look);
        look();
        void exited.then(() => reject(new Error(`the process ended without saying ${String(text)}:\n${output}`)));
      }),
  };
}
