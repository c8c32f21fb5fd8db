import { Type } from "typebox";

/** The longest command line, in characters: a longer one is a script, and is written to a file first. */
const COMMAND = 32_768;

/** The parameter that holds a command line. */
export function commandLine() {
  return Type.String({ minLength: 1, maxLength: COMMAND, description: "The command line, as bash reads it." });
}

/** The parameter that holds variables of the environment: names and values, never names of the server's own variables. */
export function environment() {
  return Type.Unsafe<Readonly<Record<string, string>>>({
    type: "object",
    propertyNames: { pattern: "^[A-Za-z_][A-Za-z0-9_]{0,127}$" },
    additionalProperties: { type: "string", maxLength: COMMAND },
    maxProperties: 100,
    description: "Variables of the environment, by name. No secret of the server is in the environment.",
  });
}
