import { formCheck } from "../lib/form.ts";
import { closed } from "../lib/setting.ts";
import { CONFIG_SETTINGS, type TriplaneConfig } from "./config.ts";
import { ConfigurationError } from "./configuration-error.ts";

const problemsOf = formCheck(closed(CONFIG_SETTINGS), "the configuration");

/** The configuration, if its form is valid. Each error names its field. */
export function checkForm(name: string, value: unknown): TriplaneConfig {
  if (value === undefined) throw new ConfigurationError(`${name} exports nothing: write \`export default defineConfig({ … })\``);
  const problems = problemsOf(value);
  if (problems.length > 0) throw new ConfigurationError(problems.map((problem) => `${name}: ${problem}`).join("\n"));
  return value as TriplaneConfig;
}
