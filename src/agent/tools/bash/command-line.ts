import { Type } from "typebox";

/** Longer command lines, in characters, are scripts, and are written to a file first. */
const COMMAND = 32_768;

export function commandLine() {
  return Type.String({ minLength: 1, maxLength: COMMAND, description: "The command line, as bash reads it." });
}

export function environment() {
  return Type.Unsafe<Readonly<Record<string, string>>>({
    type: "object",
    propertyNames: { pattern: "^[A-Za-z_][A-Za-z0-9_]{0,127}$" },
    additionalProperties: { type: "string", maxLength: COMMAND },
    maxProperties: 100,
    description: "Variables of the environment, by name. No secret of the server is in the environment.",
  });
}
