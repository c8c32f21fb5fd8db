import { fork } from "node:child_process";
import { once } from "node:events";

/** What the bench asks of a server process: each is answered with one message. */
export type Request =
  | { readonly ask: "cpu" | "memory" | "resident" }
  /** Sends each page to every socket, so many milliseconds apart. Only of the raw server. */
  | { readonly ask: "send"; readonly pages: readonly string[]; readonly everyMs: number };

/** A server in a process of its own, so that what it uses can be told apart. */
export type ServerProcess = {
  readonly port: number;
  /** What it has used since its start, in ms. */
  cpuMs(): Promise<number>;
  /** What it holds after a collection of garbage, in bytes. */
  memory(): Promise<number>;
  /** What the system has given it, after a collection of garbage, in bytes. */
  resident(): Promise<number>;
  request(request: Request): Promise<void>;
  stop(): Promise<void>;
};

/** Starts bench/FILE with these arguments; it says its port when it listens. */
export async function startServerProcess(file: string, ...args: readonly string[]): Promise<ServerProcess> {
  const child = fork(new URL(file, import.meta.url), args, { execArgv: ["--expose-gc"] });
  const answer = async <Answer>(request: Request): Promise<Answer> => {
    child.send(request);
    const [said] = (await once(child, "message")) as [Answer];
    return said;
  };
  const [{ port }] = (await Promise.race([
    once(child, "message"),
    once(child, "exit").then(() => {
      throw new Error(`bench/${file} ended before it listened`);
    }),
  ])) as [{ port: number }];
  return {
    port,
    cpuMs: () => answer<number>({ ask: "cpu" }),
    memory: () => answer<number>({ ask: "memory" }),
    resident: () => answer<number>({ ask: "resident" }),
    request: async (request) => void (await answer<null>(request)),
    async stop() {
      const ended = once(child, "exit");
      child.disconnect();
      await ended;
    },
  };
}

/** Answers the bench from inside of a server process, until the bench goes away. */
export function serveBench(
  port: number,
  work: (request: Extract<Request, { ask: "send" }>) => Promise<void>,
  close: () => Promise<unknown>,
): void {
  process.on("message", (request: Request) => void answer(request).then((said) => process.send?.(said)));
  process.once("disconnect", () => void close().then(() => process.exit(0)));
  process.send?.({ port });

  async function answer(request: Request): Promise<number | null> {
    switch (request.ask) {
      case "cpu": {
        const { user, system } = process.cpuUsage();
        return (user + system) / 1_000;
      }
      case "memory": {
        globalThis.gc?.();
        const { heapUsed, external } = process.memoryUsage();
        return heapUsed + external;
      }
      case "resident":
        globalThis.gc?.();
        return process.memoryUsage.rss();
      case "send":
        await work(request);
        return null;
    }
  }
}
