import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { isJsonObject } from "../../lib/json.ts";
import type { ProcessGroup } from "../workspace/process-groups.ts";
import { MESSAGE_BYTES } from "./server.ts";

/** The time that a process has to end by itself after its input is closed, in ms. */
const END_MS = 1_000;

/** The most bytes that wait for a process when its own questions are answered: it may ask without end, and read nothing. */
const UNREAD_BYTES = 256 * 1024;

/** The last lines of a process that say why it ended, and their greatest length. A longer line is left out, whole: it may have a secret. */
const SAID_LINES = 3;
const SAID_CHARACTERS = 300;

const NEWLINE = 0x0a;

/**
 * The messages of an MCP server's process, a line each. The process belongs to a group, which ends with this server. A
 * line above MESSAGE_BYTES ends the process. The SDK knows a transport of this kind by `pid` and `stderr`.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly stderr = null;
  readonly #start: () => Promise<ProcessGroup>;
  readonly #onStderr: (line: string) => void;
  #group: ProcessGroup | null = null;
  #pieces: Buffer[] = [];
  #bytes = 0;
  #ended: Promise<void> = Promise.resolve();
  #end: string | null = null;

  /** `onStderr` is called with each line that the process logs. */
  constructor(start: () => Promise<ProcessGroup>, onStderr: (line: string) => void) {
    this.#start = start;
    this.#onStderr = onStderr;
  }

  get pid(): number | null {
    return this.#group?.process.pid ?? null;
  }

  /** How the process ended, in words; null while it runs. */
  get end(): string | null {
    return this.#end;
  }

  async start(): Promise<void> {
    const group = await this.#start();
    this.#group = group;
    const { process: child } = group;
    child.stdout.on("data", (chunk: Buffer) => this.#read(chunk));
    child.stdout.on("error", () => {});
    let last: readonly string[] = [];
    readLines(child.stderr, (line) => {
      this.#onStderr(line);
      if (line.length <= SAID_CHARACTERS) last = [...last, line.trim()].slice(-SAID_LINES);
    });
    let exit = "";
    child.once("exit", (code, signal) => {
      exit =
        signal === null
          ? `its process ended with ${code ?? "an unknown code"}${meaning(code)}`
          : `its process was ended by ${signal}`;
    });
    // After the end of its output, too: a last answer counts.
    const closed = new Promise<void>((resolve) => {
      child.once("close", () => resolve());
      child.once("error", () => resolve());
    });
    this.#ended = closed.then(() => {
      group.end();
      const said = last.length === 0 ? "" : `; it wrote last: ${last.join(" | ")}`;
      this.#end ??= exit === "" ? "its process could not be started" : exit + said;
      this.#pieces = [];
      this.onclose?.();
    });
    // A descendant that holds the output open does not hide the end of the process.
    void group.ended.then(() => setTimeout(() => child.stdout.destroy(), END_MS).unref());
  }

  #read(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      this.#keep(chunk.subarray(from, end));
      const line = Buffer.concat(this.#pieces).toString("utf8").trim();
      this.#pieces = [];
      this.#bytes = 0;
      from = end + 1;
      if (line !== "" && this.#end === null) this.#message(line);
    }
    this.#keep(chunk.subarray(from));
  }

  #keep(piece: Buffer): void {
    if (this.#end !== null) return;
    this.#bytes += piece.length;
    if (this.#bytes <= MESSAGE_BYTES) this.#pieces.push(piece);
    else this.#stop(`its message was larger than ${MESSAGE_BYTES} bytes, and its process was ended`);
  }

  /** Lines that are no message, such as greetings, are left out: some servers print them. */
  #message(line: string): void {
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      this.#onStderr(line.slice(0, LINE_CHARACTERS));
      return;
    }
    try {
      // Servers of the first versions send several messages in a list.
      for (const each of Array.isArray(message) ? (message as readonly unknown[]) : [message])
        if (isMessage(each)) this.onmessage?.(each);
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #stop(reason: string): void {
    this.#end = reason;
    this.#pieces = [];
    this.#group?.end();
  }

  send(message: JSONRPCMessage): Promise<void> {
    const child = this.#group?.process;
    if (child === undefined || this.#end !== null || !child.stdin.writable)
      return Promise.reject(new Error("its process has ended"));
    if (!("method" in message) && child.stdin.writableLength > UNREAD_BYTES) {
      this.#stop("it does not read what it is sent, and its process was ended");
      return Promise.reject(new Error("its process has ended"));
    }
    return new Promise((resolve, reject) => {
      child.stdin.write(`${JSON.stringify(message)}\n`, (error) => (error == null ? resolve() : reject(error)));
    });
  }

  async close(): Promise<void> {
    const group = this.#group;
    if (group === null) return;
    group.process.stdin.end();
    const timer = setTimeout(() => group.end(), END_MS);
    await this.#ended;
    clearTimeout(timer);
  }
}

/** A message, or a response without its version, which is repaired later. */
function isMessage(value: unknown): value is JSONRPCMessage {
  if (!isJsonObject(value)) return false;
  return value["jsonrpc"] === "2.0" || (!("method" in value) && "id" in value);
}

function meaning(code: number | null): string {
  return code === 127 ? " (the command was not found)" : "";
}

/** The longest line of a log that is passed on, in characters. Secrets are hidden in it before it is cut for the log. */
const LINE_CHARACTERS = 64 * 1024;

function readLines(stream: NodeJS.ReadableStream, onLine: (line: string) => void): void {
  let left = "";
  stream.setEncoding("utf8");
  stream.on("error", () => {});
  stream.on("data", (text: string) => {
    const lines = (left + text).split("\n");
    left = (lines.pop() ?? "").slice(0, LINE_CHARACTERS);
    for (const line of lines) if (line.trim() !== "") onLine(line.slice(0, LINE_CHARACTERS));
  });
  stream.on("end", () => {
    if (left.trim() !== "") onLine(left);
  });
}
