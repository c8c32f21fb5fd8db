import { appendFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../support/app.ts";
import { checkout } from "../support/checkout.ts";
import { connect } from "../support/client.ts";

const CONFIG = `export default {
  models: { m: { provider: "scripted", script: { replies: [{ when: {}, say: ["x"] }] } } },
  templates: { assistant: { model: "m", systemPrompt: "x" } },
};`;

it(
  "npm run dev runs the sources as they are, and again when one changes, with the same agents",
  { timeout: 60_000 },
  async () => {
    const { folder, develop } = await checkout();
    await writeFile(join(folder, "triplane.config.ts"), CONFIG);
    const server = develop({ TRIPLANE_DATA_DIR: join(await temporaryFolder(), "data") });
    const before = await server.says(/http:\/\/127\.0\.0\.1:\d+\/graphql/);
    const agent = await connect(before).createAgent({ title: "It stays" });
    await appendFile(join(folder, "src/config/config.ts"), `console.log("a line more");\n`);
    const [, after = ""] = (await server.says(/a line more[^]*?http:\/\/127\.0\.0\.1:\d+\/graphql/)).split("a line more");
    const url = /http:\S+/.exec(after)?.[0] ?? "";
    expect(url).not.toBe("");
    expect((await connect(url).agent(agent.id)).title).toBe("It stays");
  },
);
