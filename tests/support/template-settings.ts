import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readEnvironment } from "../../src/config/environment.ts";
import { loadSettings, type Settings } from "../../src/config/settings.ts";
import { temporaryFolder } from "./app.ts";

/** The settings of a configuration file with these settings of the template `t`, whose model plays these replies. */
export async function settingsWith(
  template: object,
  tenants: object = {},
  replies: readonly object[] = [{ when: {} }],
): Promise<Settings> {
  const path = join(await temporaryFolder(), "triplane.config.ts");
  const models = { m: { provider: "scripted", script: { replies } } };
  const config = { models, templates: { t: { model: "m", systemPrompt: "x", ...template } }, tenants };
  await writeFile(path, `export default ${JSON.stringify(config)}`);
  return loadSettings(readEnvironment({ TRIPLANE_CONFIG: path }));
}
