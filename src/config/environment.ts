import { isAbsolute, resolve } from "node:path";
import type { DatabaseConfig } from "../db/database.ts";

/** The environment, read once. Secrets are in it: it is never printed. */
export type Environment = {
  readonly port: number;
  readonly host: string;
  readonly database: DatabaseConfig;
  /** The folder in which this server keeps files of its own. */
  readonly dataFolder: string;
  /** The folder of what programs of agents write besides workspaces: their HOMEs, and what was taken away from boxes. */
  readonly programsFolder: string;
  readonly configPath: string;
  /** The folder in which the server was started. */
  readonly folder: string;
  /** The keys and addresses of the providers of models; null for those that are not reached. `baseUrl` is null for the provider's own. */
  readonly anthropic: { readonly apiKey: string; readonly baseUrl: string | null } | null;
  readonly openai: { readonly apiKey: string | null; readonly baseUrl: string | null } | null;
};

type Read = (name: string) => string | null;

/** An environment variable or a field of the configuration is wrong; the message names it and says what it must be. */
export class ConfigurationError extends Error {
  override readonly name = "ConfigurationError";
}

/** Connections to PostgreSQL that one server holds for commits, and as many for readers. */
const CONNECTIONS = 6;

/** Reads the variables that the README names. An empty variable counts as absent. */
export function readEnvironment(variables: Readonly<Record<string, string | undefined>>): Environment {
  const read: Read = (name) => variables[name]?.trim() || null;
  const dataFolder = resolve(read("TRIPLANE_DATA_DIR") ?? "./data");
  const configPath = read("TRIPLANE_CONFIG") ?? "triplane.config.ts";
  return {
    port: portOf(read("PORT") ?? "4000"),
    host: read("HOST") ?? "127.0.0.1",
    database: databaseOf(read("DATABASE_URL"), dataFolder),
    dataFolder,
    programsFolder: resolve(read("TRIPLANE_PROGRAMS_DIR") ?? dataFolder),
    configPath: isAbsolute(configPath) ? configPath : resolve(configPath),
    folder: process.cwd(),
    anthropic: anthropicOf(read),
    openai: openAiOf(read),
  };
}

function anthropicOf(read: Read): Environment["anthropic"] {
  const baseUrl = urlOf("ANTHROPIC_BASE_URL", read("ANTHROPIC_BASE_URL"));
  const apiKey = keyOf("ANTHROPIC_API_KEY", read("ANTHROPIC_API_KEY"));
  return apiKey === null ? null : { apiKey, baseUrl };
}

/** Servers of one's own mostly ask for no key. */
function openAiOf(read: Read): Environment["openai"] {
  const baseUrl = urlOf("OPENAI_BASE_URL", read("OPENAI_BASE_URL"));
  const apiKey = keyOf("OPENAI_API_KEY", read("OPENAI_API_KEY"));
  return apiKey === null && baseUrl === null ? null : { apiKey, baseUrl };
}

/** The key is not repeated in the error. One that no header can hold would be in what the header's error says (invariant 11). */
function keyOf(name: string, key: string | null): string | null {
  if (key !== null && !/^[\x21-\x7e]+$/.test(key))
    throw new ConfigurationError(`${name} has a line break, a space or another character that no key has: give the key alone`);
  return key;
}

/** The text is not repeated in the error: somebody may have put a key there. */
function portOf(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new ConfigurationError("PORT must be a number from 0 to 65535");
  return port;
}

/** The URL is not repeated in the error: it may hold a password. */
function databaseOf(url: string | null, folder: string): DatabaseConfig {
  if (url === null) return { kind: "embedded", folder };
  if (!/^postgres(ql)?:\/\//.test(url) || !URL.canParse(url))
    throw new ConfigurationError("DATABASE_URL must be a URL of the form postgresql://user:password@host:5432/database");
  return { kind: "postgres", url, connections: CONNECTIONS };
}

/** The text is not repeated in the error: somebody may have put a key there. */
function urlOf(name: string, text: string | null): string | null {
  if (text !== null && !(/^https?:\/\//.test(text) && URL.canParse(text)))
    throw new ConfigurationError(`${name} must be an http or https URL`);
  return text;
}
