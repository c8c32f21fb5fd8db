import { readFileSync } from "node:fs";
import { distance } from "fastest-levenshtein";
import { isAbsolute, resolve } from "node:path";
import type { DatabaseConfig } from "../db/database.ts";
import { LOG_FORMATS, LOG_LEVELS, type LogFormat, type LogLevel } from "../telemetry/log.ts";
import { errorCode, didYouMean, messageOf } from "../lib/text.ts";
import { ConfigurationError, Problems } from "./configuration-error.ts";

/** The environment, read once. It contains secrets: it is never printed. */
export type Environment = {
  readonly port: number;
  readonly host: string;
  readonly database: DatabaseConfig;
  readonly dataFolder: string;
  /** The folder for agents' programs' files outside of workspaces: HOMEs, and files removed from boxes. */
  readonly programsFolder: string;
  readonly configPath: string;
  readonly folder: string;
  /** The providers' keys and addresses; null for unreachable ones. `baseUrl` is null for the provider's own. */
  readonly anthropic: { readonly apiKey: string; readonly baseUrl: string | null } | null;
  readonly openai: { readonly apiKey: string | null; readonly baseUrl: string | null } | null;
};

/** The connection parameters that Triplane sets: those of the URL would override them. */
const OWN_PARAMETERS = ["options", "statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"];

type Read = (name: string) => string | null;

const OWN_VARIABLES = [
  "TRIPLANE_DATA_DIR",
  "TRIPLANE_PROGRAMS_DIR",
  "TRIPLANE_CONFIG",
  "TRIPLANE_COMMIT",
  "TRIPLANE_CALLED_FROM",
  "TRIPLANE_URL",
  "TRIPLANE_TOKEN",
];
/** The secret variables, which may name a file instead, with `_FILE` after the name. */
const IN_FILES = new Set(["DATABASE_URL", "ANTHROPIC_API_KEY", "OPENAI_API_KEY"]);

const CONNECTIONS = 6;

/**
 * Reads the variables of the README. An empty variable counts as absent. A secret may be in a file, named by the
 * variable with `_FILE` after its name, as containers and systemd provide them.
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

function nearVariables(name: string): readonly string[] {
  const near = NAMED_ALIKE.filter((known) => isNear(name, known));
  return near.length > 0 ? near : OWN_VARIABLES.filter((known) => didYouMean(restOf(name), [restOf(known)]) !== "");
}

const NAMED_ALIKE = [
  ...[...IN_FILES].flatMap((name) => [name, `${name}_FILE`]),
  "ANTHROPIC_BASE_URL",
  "OPENAI_BASE_URL",
  "LOG_LEVEL",
  "LOG_FORMAT",
];

function isNear(name: string, known: string): boolean {
  return name !== known && distance(name, known) <= 2;
}

function isNearlyOwn(name: string): boolean {
  return !NAMED_ALIKE.includes(name) && NAMED_ALIKE.some((known) => isNear(name, known));
}

const restOf = (name: string): string => name.slice("TRIPLANE_".length);

/** A secret from its variable or from the file of its `_FILE` variable. Errors contain neither. */
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
 * The log settings of LOG_LEVEL and LOG_FORMAT. The default format is text at a terminal, otherwise JSON. Throws
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

/** Self-hosted servers mostly need no key. */
function openAiOf(read: Read): Environment["openai"] {
  const baseUrl = urlOf("OPENAI_BASE_URL", read("OPENAI_BASE_URL"));
  const apiKey = keyOf("OPENAI_API_KEY", read("OPENAI_API_KEY"));
  return apiKey === null && baseUrl === null ? null : { apiKey, baseUrl };
}

/** The error does not contain the key. A key that no header can hold would be in the header's error (invariant 11). */
function keyOf(name: string, key: string | null): string | null {
  if (key !== null && !/^[\x21-\x7e]+$/.test(key))
    throw new ConfigurationError(`${name} has a line break, a space or another character that no key has: give the key alone`);
  return key;
}

/** The error does not contain the text, which may be a misplaced key. */
function portOf(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new ConfigurationError("PORT must be a number from 0 to 65535");
  return port;
}

/** The error does not contain the URL, which may include a password. */
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

/** The error does not contain the text, which may be a misplaced key. */
function urlOf(name: string, text: string | null): string | null {
  if (text !== null && !(/^https?:\/\//.test(text) && URL.canParse(text)))
    throw new ConfigurationError(`${name} must be an http or https URL`);
  return text;
}
