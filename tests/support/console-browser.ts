import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { createClient, type Client } from "graphql-ws";
import { onTestFinished } from "vitest";
import WebSocket from "ws";
import type { TestApp } from "./app.ts";

export type Headers = Readonly<Record<string, string>>;

export type RawAnswer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly text: string };

/** The state of a browser, as `/console/session` says it. */
export type SessionState = {
  readonly mode: "none" | "token" | "authenticate";
  readonly isSignedIn: boolean;
  readonly viewer: {
    readonly actorId: string;
    readonly name: string | null;
    readonly kind: string;
    readonly tenant: string;
    readonly roles: readonly string[];
  } | null;
  readonly sessionId: string | null;
  readonly problem: string | null;
  readonly returnTo?: string;
  readonly error?: { readonly code: string; readonly message: string };
};

/** One request with any headers, also those that `fetch` reserves for itself. */
export function send(app: TestApp, method: string, path: string, headers: Headers, body?: string): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ port: app.port, host: "127.0.0.1", method, path, headers: { ...headers } }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      response.on("error", reject);
    });
    request.on("error", reject);
    request.end(body);
  });
}

export const CONSOLE = { "x-triplane-console": "1" };
const JSON_BODY = { "content-type": "application/json" };
const WHO = JSON.stringify({ query: "{ viewer { actor { actorId } } }" });

/** The pages of the server in a browser: what the console's own page sends, with the cookie that the browser keeps. */
export class ConsoleBrowser {
  readonly #app: TestApp;
  /** The headers of each request: those of a proxy, for example. */
  readonly #headers: Headers;
  cookie: string | null = null;
  /** The Set-Cookie of the last sign-in. */
  setCookie = "";

  constructor(app: TestApp, headers: Headers = {}) {
    this.#app = app;
    this.#headers = { ...CONSOLE, "user-agent": "Browser of the test", ...headers };
  }

  headers(others: Headers = {}): Headers {
    return { ...this.#headers, ...(this.cookie === null ? {} : { cookie: this.cookie }), ...others };
  }

  async #session(method: string, body?: object): Promise<SessionState & { readonly status: number }> {
    const headers = this.headers(body === undefined ? {} : JSON_BODY);
    const answer = await send(
      this.#app,
      method,
      "/console/session",
      headers,
      body === undefined ? undefined : JSON.stringify(body),
    );
    const [setCookie] = answer.headers["set-cookie"] ?? [];
    if (setCookie !== undefined) {
      this.setCookie = setCookie;
      this.cookie = method === "DELETE" ? null : (setCookie.split(";", 1)[0] ?? null);
    }
    return { ...(JSON.parse(answer.text) as SessionState), status: answer.status };
  }

  signIn(token: string, returnTo?: string): Promise<SessionState & { readonly status: number }> {
    return this.#session("POST", { token, ...(returnTo === undefined ? {} : { returnTo }) });
  }

  signOut(): Promise<SessionState & { readonly status: number }> {
    return this.#session("DELETE");
  }

  state(): Promise<SessionState & { readonly status: number }> {
    return this.#session("GET");
  }

  /** The actor as whom the server answers an operation; its status if it answers none. */
  async actor(others: Headers = {}): Promise<string | number> {
    const { status, text } = await send(this.#app, "POST", "/graphql", this.headers({ ...JSON_BODY, ...others }), WHO);
    if (status !== 200) return status;
    const { data } = JSON.parse(text) as { data: { viewer: { actor: { actorId: string } } } | null };
    return data?.viewer.actor.actorId ?? status;
  }

  /** A socket of a page of this origin. `connectionParams`: those of the console if omitted. */
  socket(origin: string | null, connectionParams: Record<string, unknown> = { ...CONSOLE }): Client {
    const headers = this.headers(origin === null ? {} : { origin });
    class WebSocketOfPage extends WebSocket {
      constructor(url: string, protocols: string) {
        super(url, protocols, { headers });
      }
    }
    const client = createClient({
      url: this.#app.url.replace(/^http/, "ws"),
      webSocketImpl: WebSocketOfPage,
      retryAttempts: 0,
      connectionParams,
    });
    onTestFinished(() => void client.dispose());
    return client;
  }

  /** `followed` for a subscription that answers over a socket, or the code or message with which the socket was refused. */
  async follow(origin: string | null, connectionParams?: Record<string, unknown>): Promise<string | number> {
    const stream = this.socket(origin, connectionParams).iterate({ query: "subscription { control { cursor } }" });
    try {
      await stream.next();
      await stream.return?.();
      return "followed";
    } catch (error) {
      if (typeof error === "object" && error !== null && "code" in error && typeof error.code === "number") return error.code;
      return error instanceof Error ? error.message : JSON.stringify(error);
    }
  }
}
