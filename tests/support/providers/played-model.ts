import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import type { ChatBody } from "./openai-stream.ts";

/** What a model says: a thought, a text and calls, each as it comes. */
export type Reply = {
  readonly thought: string;
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly input: object }[];
};

/** The ways of one server: what it refuses, and how it writes what its model says. */
export type Manner = {
  /** A name under which such a model goes there. */
  readonly model: string;
  /** Why a request is refused, with the body of the error; null if it is taken. */
  readonly refuses: (body: ChatBody) => { readonly status: number; readonly body: unknown } | null;
  /** The frames of an answer, as they go over the wire. */
  readonly frames: (reply: Reply) => readonly string[];
};

/** A frame with JSON in it. */
export function frame(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

/** The text in pieces of a few characters. */
export function inPieces(text: string, length = 7): readonly string[] {
  return Array.from({ length: Math.ceil(text.length / length) }, (_, index) => text.slice(index * length, (index + 1) * length));
}

/** The role of a message, and its text. */
function textOf({ content }: ChatBody["messages"][number]): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: { readonly text?: unknown }) => (typeof part.text === "string" ? part.text : "")).join("\n");
}

/** The answers of a model that does what it is asked, as far as the conversations of check-model ask for it. */
function replyTo({ messages }: ChatBody): Reply {
  const last = messages.at(-1) ?? { role: "user" };
  const said = textOf(last);
  const thought = "I should do it.";
  const calls = (...inputs: readonly (readonly [name: string, input: object])[]): Reply => ({
    thought,
    text: "",
    calls: inputs.map(([name, input]) => ({ name, input })),
  });
  const text = (words: string): Reply => ({ thought, text: words, calls: [] });
  if (last.role === "tool")
    return said.includes("lookup again") ? calls(["lookup", { path: "a.md" }]) : text(/blue17/.exec(said)?.[0] ?? "done");
  if (said.includes("one word ready")) return text("ready");
  if (said.includes("lookup twice")) return calls(["lookup", { path: "a.txt" }], ["lookup", { path: "b.txt" }]);
  if (said.includes("tool lookup")) return calls(["lookup", { path: "a.txt" }]);
  if (said.includes("tool now")) return calls(["now", {}]);
  if (said.includes("tool move")) return calls(["move", { from: { column: "e", row: 2 }, to: { column: "e", row: 4 } }]);
  const [, count] = /Count from 1 to (\d+)/.exec(said) ?? [];
  if (count !== undefined) return text(Array.from({ length: Number(count) }, (_, index) => index + 1).join("\n"));
  if (said.includes("colour")) return text(JSON.stringify(last).includes("image_url") ? "Red." : "none");
  return text("I see.");
}

/** A local server with the ways of a real one, behind which a model answers that does what it is asked. */
export async function playedModel({ refuses, frames }: Manner): Promise<{ readonly url: string; readonly requests: ChatBody[] }> {
  const requests: ChatBody[] = [];
  const server = createServer((request, response) => void answer(request, response));

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === "GET") {
      response.writeHead(404).end();
      return;
    }
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = JSON.parse(Buffer.concat(pieces).toString()) as ChatBody;
    requests.push(body);
    const refusal = refuses(body);
    if (refusal !== null) {
      response.writeHead(refusal.status, { "content-type": "application/json" }).end(JSON.stringify(refusal.body));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const each of frames(replyTo(body))) if (!response.write(each)) await once(response, "drain").catch(() => {});
    response.end();
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}
