import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/app.ts";
import { runFile } from "../support/process.ts";

/** What `npm run config:check` says of a configuration, and its exit code. */
async function checked(config: string, env: Readonly<Record<string, string>> = {}) {
  const path = join(await temporaryFolder(), "triplane.config.ts");
  await writeFile(path, config);
  // Nobody listens there: no database is asked.
  const unset = {
    ANTHROPIC_API_KEY: "",
    OPENAI_API_KEY: "",
    OPENAI_BASE_URL: "",
    DATABASE_URL: "postgresql://nobody@127.0.0.1:1/none",
  };
  const command = runFile("scripts/config-check.ts", [], { ...unset, TRIPLANE_CONFIG: path, ...env });
  const code = await command.exited;
  const lines = command.output().replaceAll(`${path}: `, "").split("\n");
  return { code, path, lines, problems: lines.filter((line) => line.startsWith("problem: ")) };
}

const MODEL = 'm: { provider: "scripted", script: { replies: [{ when: {}, say: ["x"] }] } }';

describe("npm run config:check", () => {
  it("says all that is wrong with the environment and the configuration, and ends with 1", async () => {
    const { code, problems } = await checked(
      `export default {
        models: { ${MODEL}, n: { provider: "anthropic", model: "x" }, s: { provider: "scripted", script: "none.json" } },
        templates: {
          a: { model: "n", systemPrompt: "x", tools: ["none"], permission: { mode: "odd", allow: ["fs_red"] } },
          b: { model: "q", systemPrompt: "x" },
        },
        permissionModes: { auto: () => "deny" },
        webhooks: { w: { url: "http://10.0.0.1/", secret: "x" } },
        tenants: { acme: { templates: { c: { model: "r", systemPrompt: "x" } } } },
      };`,
      { PORT: "eighty", LOG_FORMAT: "xml", OPENAI_API_KEY: "a b" },
    );
    expect(code).toBe(1);
    const expected = [
      "LOG_FORMAT must be one of json, text",
      "PORT must be a number",
      "OPENAI_API_KEY has a line break",
      "permissionModes.auto is named as a built-in mode is",
      "models.n needs ANTHROPIC_API_KEY",
      "models.s: ENOENT",
      'templates.a.tools.0: there is no tool "none"',
      'templates.a.permission.mode: there is no mode "odd"',
      "templates.a.permission.allow.0: at character 1",
      'templates.b.model: there is no model "q": the models are m, n, s',
      "tenants: they are checked once the rest is right",
      "webhooks.w.url leads to a private network",
    ];
    expect(problems).toEqual(expected.map((text) => expect.stringContaining(text)));
  });

  it("refuses a file as its argument, which it would not read", async () => {
    const command = runFile("scripts/config-check.ts", ["other.config.ts"]);
    expect(await command.exited).toBe(1);
    expect(command.output()).toContain("takes no arguments, but was given other.config.ts: name a file in TRIPLANE_CONFIG");
  });

  it("says which parts of the database's address Triplane sets, and which folders a server could not make", async () => {
    const file = join(await temporaryFolder(), "file");
    await writeFile(file, "");
    const { code, lines } = await checked(`export default { models: { ${MODEL} } };`, {
      DATABASE_URL: "postgresql://nobody:hush@127.0.0.1:1/none?options=-c%20work_mem%3D8MB&lock_timeout=1",
      TRIPLANE_DATA_DIR: join(file, "data"),
      TRIPLANE_PROGRAMS_DIR: file,
    });
    expect(code).toBe(1);
    expect(lines).toContainEqual(expect.stringMatching(/^problem: DATABASE_URL sets options, lock_timeout, .*: remove it$/));
    expect(lines).toContainEqual(expect.stringMatching(/^problem: the data folder .*file\/data cannot be used \(/));
    expect(lines).toContainEqual(
      expect.stringMatching(/^problem: the data folder .*\/file cannot be used .*TRIPLANE_PROGRAMS_DIR/),
    );
    expect(lines.join("\n")).not.toContain("hush");
  });

  it("says all fields whose form is wrong", async () => {
    const { code, problems } = await checked(
      `export default { models: { ${MODEL} }, templates: { a: { model: 1, systemPrompt: "x", maxStep: 3 } }, agentLimit: "many" };`,
    );
    expect(code).toBe(1);
    expect(problems.join("\n")).toMatch(/templates\.a\.model[^]*maxSteps|maxSteps[^]*templates\.a\.model/);
    expect(problems.join("\n")).toContain("agentLimit must be integer");
  });

  it("ends with 0 where a server would start, with the notes of a start, and asks no database", async () => {
    const { code, path, lines } = await checked(
      `export default {
        models: { ${MODEL} },
        templates: { a: { model: "m", systemPrompt: "x", permission: { allow: ["bash_run(command:git status *)"], ask: ["bash_run(command:git status)"] } } },
      };`,
      { TRIPLANE_DATA_DIRS: "x", DATABSE_URL: "postgresql://secret", LOG_LEVLE: "debug" },
    );
    expect(code, lines.join("\n")).toBe(0);
    expect(lines).toContainEqual(expect.stringMatching(/^note: templates\.a\.permission\.ask\.0: .* asks about nothing/));
    for (const [mistaken, meant] of [
      ["TRIPLANE_DATA_DIRS", "TRIPLANE_DATA_DIR"],
      ["DATABSE_URL", "DATABASE_URL"],
      ["LOG_LEVLE", "LOG_LEVEL"],
    ])
      expect(lines).toContainEqual(expect.stringContaining(`the variable ${mistaken} is not known (did you mean ${meant}?)`));
    expect(lines.join("\n")).not.toContain("secret");
    expect(lines).toContainEqual(
      expect.stringMatching(
        new RegExp(`^${path} can be started with \\(digest [0-9a-f]{12}\\), on the PostgreSQL of DATABASE_URL$`),
      ),
    );
  });
});
