import { mapStrings, someString, type JsonObject } from "../../lib/json.ts";

/** The way to an MCP server. `cwd` is an absolute path, `sandbox` that of its process. */
export type McpWay =
  | {
      readonly kind: "stdio";
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd: string;
      readonly sandbox: "none" | "required";
    }
  | {
      /** `any`: Streamable HTTP, or else the older HTTP with SSE. */
      readonly kind: "http" | "sse" | "any";
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
    };

/** A server of the Model Context Protocol, as it is configured. It contains secrets: it is never printed. */
export type McpServer = {
  readonly name: string;
  readonly way: McpWay;
  /** The values of environment variables in its settings, paths excepted: they may be secrets. */
  readonly variableValues: readonly string[];
  /** The server's own names of the only tools that are taken; null for all. */
  readonly include: readonly string[] | null;
  readonly exclude: readonly string[];
  /** Read-only tools, as the operator says. */
  readonly readOnlyTools: readonly string[];
  /** `told`: each folder has a connection of its own, which is told that folder; `asked`: one for all answers its questions. */
  readonly roots: "asked" | "told";
  /** The time limit of a call, in ms; null for the template's. */
  readonly toolTimeoutMs: number | null;
};

/** The largest message of a server, in bytes. */
export const MESSAGE_BYTES = 10 * 1024 * 1024;

/** The shortest text that is hidden as a secret: shorter ones occur in ordinary words. */
const SECRET_CHARACTERS = 6;

/** The shortest value that is hidden in results: such a one without spaces and slashes is a token rather than a word or a path. */
const TOKEN = /^[^\s/]{16,}$/;

type Configured = Pick<McpServer, "way" | "variableValues">;

/** Replaces the secrets of a server's configuration in a text from outside: it may repeat them. */
export function withoutSecrets(server: Configured, text: string): string {
  return hidden(
    secretsOf(server).filter((secret) => secret.length >= SECRET_CHARACTERS),
    text,
  );
}

/** Replaces the tokens of a server's configuration in a result, such as one that lists the environment. */
export function withoutTokens(server: Configured, result: JsonObject): JsonObject {
  const tokens = secretsOf(server).filter((secret) => TOKEN.test(secret));
  if (!someString(result, (text) => tokens.some((token) => text.includes(token)))) return result;
  return Object.fromEntries(
    Object.entries(result).map(([name, value]) => [
      name,
      value === undefined ? value : mapStrings(value, (text) => hidden(tokens, text)),
    ]),
  );
}

function hidden(secrets: readonly string[], text: string): string {
  return secrets
    .toSorted((one, other) => other.length - one.length)
    .reduce((left, secret) => left.replaceAll(secret, "[hidden]"), text);
}

function secretsOf({ way, variableValues }: Configured): readonly string[] {
  return [...secretsOfWay(way), ...variableValues];
}

function secretsOfWay(way: McpWay): readonly string[] {
  if (way.kind === "stdio") return Object.values(way.env);
  const { search, password } = new URL(way.url);
  const inUrl = [...new URLSearchParams(search).values(), decodeURIComponent(password)];
  // `Bearer TOKEN`: the token alone is a secret, too.
  const headers = Object.values(way.headers);
  return [...headers, ...headers.flatMap((value) => value.split(" ")), ...inUrl];
}
