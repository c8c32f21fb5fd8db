import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { onTestFinished } from "vitest";

/** What one request is answered with: an error or a JSON body, or a stream of server-sent events. */
export type ProviderAnswer = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** The frames of the stream, as they go over the wire. */
  readonly frames?: readonly string[];
  /** The time between two frames, in ms. */
  readonly paceMs?: number;
  /** True if the connection is cut after the frames, or stays open without a word. */
  readonly ending?: "cut" | "silence";
};

/** A request as the server got it. */
export type ProviderRequest<Body> = {
  readonly url: string | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: Body;
  /** Resolves when the client has gone away, or the answer has ended. */
  readonly closed: Promise<void>;
};

/** A fault of a request, for which it is refused; null for none. And the answers to what is only read, by its path. */
type ProviderServerOptions<Body> = {
  readonly refusal?: (body: Body) => string | null;
  readonly reads?: Readonly<Record<string, unknown>>;
};

/**
 * A local server in the place of a model's provider: one answer a request, the last for all further ones. A request that
 * `refusal` names a fault of gets that with 400, as providers answer. Of the paths that are read (a model, the list of models) only
 * those of `reads` are there.
 */
export async function providerServer<Body>(
  answers: readonly ProviderAnswer[],
  { refusal = () => null, reads = {} }: ProviderServerOptions<Body> = {},
): Promise<{ readonly url: string; readonly requests: ProviderRequest<Body>[] }> {
  const requests: ProviderRequest<Body>[] = [];
  const server = createServer((request, response) => void respond(request, response));

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === "GET") {
      const read = reads[request.url ?? ""];
      response.writeHead(read === undefined ? 404 : 200, { "content-type": "application/json" }).end(JSON.stringify(read ?? {}));
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    requests.push({
      url: request.url,
      headers: request.headers,
      body: JSON.parse(Buffer.concat(chunks).toString()) as Body,
      closed: new Promise((resolve) => response.once("close", resolve)),
    });
    const body = requests.at(-1)?.body;
    const refused = body === undefined ? null : refusal(body);
    const error = { type: "error", error: { type: "invalid_request_error", message: refused } };
    const played = answers[Math.min(requests.length, answers.length) - 1] ?? {};
    const answer: ProviderAnswer = refused === null ? played : { status: 400, body: error };
    if (answer.frames === undefined) {
      response
        .writeHead(answer.status ?? 200, { "content-type": "application/json", ...answer.headers })
        .end(JSON.stringify(answer.body));
      return;
    }
    response.writeHead(answer.status ?? 200, { "content-type": "text/event-stream", ...answer.headers });
    for (const frame of answer.frames) {
      response.write(frame);
      if (answer.paceMs !== undefined) await delay(answer.paceMs);
    }
    if (answer.ending === "cut") setImmediate(() => response.destroy());
    else if (answer.ending === undefined) response.end();
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}
