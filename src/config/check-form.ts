import { formCheck } from "../lib/form.ts";
import { closed } from "../lib/setting.ts";
import { CONFIG_SETTINGS, type TriplaneConfig } from "./config.ts";
import { ConfigurationError } from "./environment.ts";

const problemsOf = formCheck(closed(CONFIG_SETTINGS), "the configuration");

/** Problems that the form alone says badly, with what to do instead. */
const TOLD: readonly (readonly [RegExp, string])[] = [
  [/^(.*tokenHash) .*/, "$1 must match the form of a SHA-256 in hex: printf %s TOKEN | sha256sum"],
  [/^(.*\.provider) must name one of the forms$/, "$1 must be anthropic, openai or scripted"],
  [/^(tools\.\d+) must have required property .*/, "$1 is no tool: make it with defineTool"],
  [/^(retention\.\w+) must be >= 0\.04.*/, "$1 must be at least an hour (1 / 24)"],
  [/^(allowedOrigins\.\d+) must match pattern.*/, "$1 must be an origin without a path, such as https://console.example.org"],
];

/** The configuration, once its form is right. Each error points at its field. */
export function checkForm(name: string, value: unknown): TriplaneConfig {
  if (value === undefined) throw new ConfigurationError(`${name} exports nothing: write \`export default defineConfig({ … })\``);
  const problems = problemsOf(value).map((problem) => {
    const told = TOLD.find(([pattern]) => pattern.test(problem));
    return told === undefined ? problem : problem.replace(...told);
  });
  if (problems.length > 0) throw new ConfigurationError(`${name}: ${[...new Set(problems)].join("; ")}`);
  return value as TriplaneConfig;
}
