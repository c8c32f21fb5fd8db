import { readFileSync } from "node:fs";
import { distance } from "fastest-levenshtein";
import { isAbsolute, resolve } from "node:path";
import type { DatabaseConfig } from "../db/database.ts";
import { LOG_FORMATS, LOG_LEVELS, type LogFormat, type LogLevel } from "../telemetry/log.ts";
import { errorCode } from "../lib/error-code.ts";
import { ConfigurationError, Problems } from "./configuration-error.ts";
import { didYouMean, messageOf } from "../lib/text.ts";

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

/** The parameters of a connection that Triplane sets: those of the URL would take their place. */
const OWN_PARAMETERS = ["options", "statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"];

type Read = (name: string) => string | null;

/** The variables that this server, and the commands beside it, read by this name. */
const OWN_VARIABLES = [
  "TRIPLANE_DATA_DIR",
  "TRIPLANE_PROGRAMS_DIR",
  "TRIPLANE_CONFIG",
  "TRIPLANE_COMMIT",
  "TRIPLANE_CALLED_FROM",
  "TRIPLANE_URL",
];
/** The variables that may be in files instead: what is secret. Each by its name with `_FILE` behind it. */
const IN_FILES = new Set(["DATABASE_URL", "ANTHROPIC_API_KEY", "OPENAI_API_KEY"]);

/** Connections to PostgreSQL that one server holds for commits, and as many for readers. */
const CONNECTIONS = 6;

/**
 * Reads the variables that the README names. An empty variable counts as absent. A secret may be in a file that the variable with
 * `_FILE` behind its name names, as containers and systemd have them.
 */
export function readEnvironment(variables: Readonly<Record<string, string | undefined>>): Environment {
  const given: Read = (name) => variables[name]?.trim() || null;
  const read: Read = (name) => (IN_FILES.has(name) ? secretOf(name, given) : given(name));
  const dataFolder = resolve(given("TRIPLANE_DATA_DIR") ?? "./data");
  const configPath = given("TRIPLANE_CONFIG") ?? "triplane.config.ts";
  const problems = new Problems();
  const port = problems.of(() => portOf(given("PORT") ?? "4000"));
  const database = problems.of(() => databaseOf(read("DATABASE_URL"), dataFolder));
  const anthropic = problems.of(() => anthropicOf(read));
  const openai = problems.of(() => openAiOf(read));
  const whole = problems.none({ port, database });
  return {
    port: whole.port,
    host: given("HOST") ?? "127.0.0.1",
    database: whole.database,
    dataFolder,
    programsFolder: resolve(given("TRIPLANE_PROGRAMS_DIR") ?? dataFolder),
    configPath: isAbsolute(configPath) ? configPath : resolve(configPath),
    folder: process.cwd(),
    anthropic,
    openai,
  };
}

/** Of the variables that all begin alike, those whose rest is near. */
function nearVariables(name: string): readonly string[] {
  const near = NAMED_ALIKE.filter((known) => isNear(name, known));
  return near.length > 0 ? near : OWN_VARIABLES.filter((known) => didYouMean(restOf(name), [restOf(known)]) !== "");
}

/** Variables that others read, too. */
const NAMED_ALIKE = [
  ...[...IN_FILES].flatMap((name) => [name, `${name}_FILE`]),
  "ANTHROPIC_BASE_URL",
  "OPENAI_BASE_URL",
  "LOG_LEVEL",
  "LOG_FORMAT",
];

/** True for a name with one or two mistakes. */
function isNear(name: string, known: string): boolean {
  return name !== known && distance(name, known) <= 2;
}

/** True for a misspelt name of such a variable. */
function isNearlyOwn(name: string): boolean {
  return !NAMED_ALIKE.includes(name) && NAMED_ALIKE.some((known) => isNear(name, known));
}

const restOf = (name: string): string => name.slice("TRIPLANE_".length);

/** A secret, from its variable or from the file that its other variable names. Neither is repeated in an error. */
function secretOf(name: string, given: Read): string | null {
  const [value, file] = [given(name), given(`${name}_FILE`)];
  if (file === null) return value;
  if (value !== null) throw new ConfigurationError(`${name} and ${name}_FILE are both set: give one of them`);
  let text: string;
  try {
    text = readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new ConfigurationError(`${name}_FILE: ${file} cannot be read (${errorCode(error) ?? messageOf(error)})`);
  }
  if (text === "") throw new ConfigurationError(`${name}_FILE: ${file} is empty`);
  return text;
}

/**
 * How the server logs, by LOG_LEVEL and LOG_FORMAT. Without the latter: text at a terminal, JSON elsewhere. Throws
 * ConfigurationError.
 */
export function readLogSettings(
  variables: Readonly<Record<string, string | undefined>>,
  isTerminal: boolean,
): { readonly level: LogLevel; readonly format: LogFormat } {
  const problems = new Problems();
  const read = <Value extends string>(name: string, values: readonly Value[], absent: Value): Value | null =>
    problems.of(() => {
      const text = variables[name]?.trim().toLowerCase() ?? "";
      const found = text === "" ? absent : values.find((value) => value === text);
      if (found === undefined) throw new ConfigurationError(`${name} must be one of ${values.join(", ")}`);
      return found;
    });
  return problems.none({
    level: read("LOG_LEVEL", LOG_LEVELS, "info"),
    format: read("LOG_FORMAT", LOG_FORMATS, isTerminal ? "text" : "json"),
  });
}

/** Names the variables of ours that nobody reads, in words for the operator: a mistake that would go unseen. */
export function variableNotes(variables: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.keys(variables)
    .filter((name) => !OWN_VARIABLES.includes(name) && (name.startsWith("TRIPLANE_") || isNearlyOwn(name)))
    .toSorted()
    .map((name) => `the variable ${name} is not known${didYouMean(name, nearVariables(name))}: nothing reads it`);
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
    throw new ConfigurationError(
      "DATABASE_URL must be a URL of the form postgresql://user:password@host:5432/database, with signs such as # / ? @ of a password written as %23 %2F %3F %40",
    );
  const replaced = OWN_PARAMETERS.filter((name) => new URL(url).searchParams.has(name));
  if (replaced.length > 0)
    throw new ConfigurationError(
      `DATABASE_URL sets ${replaced.join(", ")}, which every connection of Triplane sets for itself: remove it`,
    );
  return { kind: "postgres", url, connections: CONNECTIONS };
}

/** The text is not repeated in the error: somebody may have put a key there. */
function urlOf(name: string, text: string | null): string | null {
  if (text !== null && !(/^https?:\/\//.test(text) && URL.canParse(text)))
    throw new ConfigurationError(`${name} must be an http or https URL`);
  return text;
}
