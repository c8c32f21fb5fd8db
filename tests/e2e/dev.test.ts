import { appendFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../support/app.ts";
import { checkout } from "../support/checkout.ts";
import { connect, textOf } from "../support/client.ts";

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

it(
  "npm run dev takes each save of the configuration and of a script that puts a new file in its place, and starts again when a mistake is mended",
  { timeout: 60_000 },
  async () => {
    const { folder, develop } = await checkout();
    const config = join(folder, "triplane.config.ts");
    const script = join(folder, "script.json");
    // As editors and `sed -i` save: another file of the same name.
    const save = async (path: string, content: string): Promise<void> => {
      await writeFile(`${path}.new`, content);
      await rename(`${path}.new`, path);
    };
    const says = (title: string): string =>
      `export default { models: { m: { provider: "scripted", script: "script.json" } }, templates: { ${title}: { model: "m", systemPrompt: "x" } } };`;
    const reply = (text: string): string => JSON.stringify({ replies: [{ when: {}, say: [text] }] });
    await save(script, reply("one"));
    await save(config, says("first"));
    const server = develop({ TRIPLANE_DATA_DIR: join(await temporaryFolder(), "data") });
    let heard = 0;
    /** The address of the next server. */
    const nextUrl = async (): Promise<string> => {
      await expect.poll(() => server.output().slice(heard)).toMatch(/http:\/\/127\.0\.0\.1:\d+\/graphql/);
      const [url = ""] = /http:\/\/127\.0\.0\.1:\d+\/graphql/.exec(server.output().slice(heard)) ?? [];
      heard = server.output().lastIndexOf("Try, in a second terminal");
      return url;
    };
    const templates = async (url: string): Promise<string> =>
      JSON.stringify(await connect(url).post({ query: "{ templates { templateId } }" }));
    expect(await templates(await nextUrl())).toContain("first");
    for (const title of ["second", "third"]) {
      heard = server.output().length;
      await save(config, says(title));
      expect(await templates(await nextUrl())).toContain(title);
    }
    heard = server.output().length;
    await save(script, reply("two"));
    const client = connect(await nextUrl());
    const agent = await client.createAgent({ templateId: "third" });
    expect(textOf(await client.turn(agent.id, "hello"))).toBe("two");
    heard = server.output().length;
    await save(script, "{");
    await expect
      .poll(() => server.output().slice(heard))
      .toContain("The server has ended. It is started again when a file changes.");
    heard = server.output().length;
    await save(script, reply("three"));
    expect(await templates(await nextUrl())).toContain("third");

    // A second change while the first one is still being taken makes no second server.
    heard = server.output().length;
    await save(config, says("fourth"));
    await expect.poll(() => server.output().slice(heard)).toContain("has changed: starting again.");
    await save(config, says("fifth"));
    const newest = async (): Promise<string> => {
      const urls = [
        ...server
          .output()
          .slice(heard)
          .matchAll(/http:\/\/127\.0\.0\.1:\d+\/graphql/g),
      ];
      return templates(urls.at(-1)?.[0] ?? "").catch(() => "");
    };
    await expect.poll(newest).toContain("fifth");
    expect(server.output()).not.toContain("is in use");
  },
);
