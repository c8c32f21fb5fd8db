import { ConfigurationError } from "./configuration-error.ts";

const VARIABLE = /\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/**
 * The text with the values of environment variables, as other products write them: `${NAME}`, `${env:NAME}`,
 * `${NAME:-default}`. The values go into `used`. Throws ConfigurationError for a variable that is not set, and for other
 * forms.
 */
export function expanded(field: string, text: string, variables: NodeJS.ProcessEnv, used: string[]): string {
  const whole = text.replaceAll(VARIABLE, (_written, name: string, otherwise: string | undefined) => {
    const value = variables[name] ?? otherwise;
    if (value === undefined)
      throw new ConfigurationError(
        `${field} names the environment variable ${name}, which is not set: set it, or write \${${name}:-default}`,
      );
    used.push(value);
    return value;
  });
  const [other] = /\$\{[^}]*\}/.exec(text.replaceAll(VARIABLE, "")) ?? [];
  if (other !== undefined)
    throw new ConfigurationError(`${field} has ${other}, which is no environment variable: write its value`);
  return whole;
}
