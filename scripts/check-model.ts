import { dirname } from "node:path";
import type { WrittenCompatibility } from "../src/agent/models/chat-request.ts";
import { complete } from "../src/lib/setting.ts";
import { CONFIG_SETTINGS } from "../src/config/config.ts";
import { ConfigurationError } from "../src/config/configuration-error.ts";
import { readEnvironment } from "../src/config/environment.ts";
import { modelsOf } from "../src/config/models.ts";
import { readConfig } from "../src/config/settings.ts";
import { command } from "./command.ts";
import { CONVERSATIONS, holdConversation } from "./model-conversations.ts";

/**
 * `npm run check-model -- NAME`: twelve small conversations with a model of the configuration. A line each says if it works, and
 * which setting of the model mends what does not. Ends with 1 if one does not work. Nothing is stored.
 */
await command(async () => {
  const environment = readEnvironment(process.env);
  const { models } = complete(CONFIG_SETTINGS, await readConfig(environment));
  const [name = ""] = process.argv.slice(2);
  const config = Object.hasOwn(models, name) ? models[name] : undefined;
  if (config === undefined)
    throw new ConfigurationError(
      `name a model of ${environment.configPath}: npm run check-model -- ${Object.keys(models).join(" | ")}`,
    );
  const source = { folder: dirname(environment.configPath), environment, tools: { has: () => true }, onRead: () => {} };
  const modelWith = async (compat: WrittenCompatibility) => {
    const changed = config.provider === "openai" ? { ...config, compat: { ...config.compat, ...compat } } : config;
    const made = (await modelsOf("models", { [name]: changed }, source)).models.get(name);
    if (made === undefined) throw new Error(`the model ${name} was not made`);
    return made;
  };
  console.log(`${name}: ${(await modelWith({})).name}`);
  const settings: { -readonly [Name in keyof WrittenCompatibility]: WrittenCompatibility[Name] } = {};
  let failed = 0;
  for (const conversation of CONVERSATIONS) {
    const started = performance.now();
    const outcome = await holdConversation(
      conversation,
      async (compat) => modelWith({ ...settings, ...compat }),
      config.provider === "openai",
    );
    const seconds = ((performance.now() - started) / 1_000).toFixed(1);
    const line = `${conversation.name.padEnd(34)} ${seconds.padStart(5)} s`;
    if (outcome.kind === "works") {
      console.log(`works  ${line}${outcome.note === null ? "" : `  ${outcome.note}`}`);
      continue;
    }
    failed += 1;
    const advice = outcome.compat === null ? "" : `: it works with compat: ${JSON.stringify(outcome.compat)}`;
    console.log(`FAILS  ${line}  ${outcome.problem}${advice}`);
    Object.assign(settings, outcome.compat);
  }
  if (Object.keys(settings).length > 0)
    console.log(`\nGive the model ${name} in ${environment.configPath}:\n  compat: ${JSON.stringify(settings)}`);
  console.log(`\n${CONVERSATIONS.length - failed} of ${CONVERSATIONS.length} work.`);
  process.exitCode = failed === 0 ? 0 : 1;
});
