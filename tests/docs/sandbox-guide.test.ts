import { Deadline } from "../../src/lib/time.ts";
import { ProgramLease } from "../../src/agent/workspace/process-groups.ts";
import { readFile, mkdir } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { runInThisContext } from "node:vm";
import { expect, it } from "vitest";
import { groupLimits, BOX_LIMITS } from "../../src/agent/workspace/sandbox/control-groups.ts";
import { PROTECTED_PATHS } from "../../src/agent/workspace/sandbox/protected-paths.ts";
import { sandboxFor } from "../../src/agent/workspace/sandbox/sandbox.ts";
import { CONTROL_GROUP_SETTINGS } from "../../src/config/sandbox.ts";
import * as triplane from "../../src/triplane.ts";
import type { TriplaneConfig } from "../../src/triplane.ts";
import { startTestApp, temporaryFolder } from "../support/app.ts";
import { ended, hasNoBox } from "../support/box.ts";

const guide = await readFile(new URL("../../docs/sandbox.md", import.meta.url), "utf8");

it("docs/sandbox.md names every protected path, and the limits", () => {
  const isOfShells = (path: string): boolean => /^\.(bash|z|profile|inputrc)/.test(path);
  for (const path of PROTECTED_PATHS) if (!isOfShells(path)) expect(guide).toContain(`\`${path}\``);
  const gigabytes = (bytes: number): string => `${bytes / 1024 ** 3} GB`;
  for (const bytes of [BOX_LIMITS.memory, BOX_LIMITS.file, BOX_LIMITS.temporary]) expect(guide).toContain(gigabytes(bytes));
  expect(guide).toContain(`${BOX_LIMITS.processes.toLocaleString("en-US")} processes`);
});

it("docs/sandbox.md tells each setting of a control group, and the controllers that it needs", () => {
  const [, settings = ""] = /^sandbox: \{ cgroup: \{ (.+) \} \},$/m.exec(guide) ?? [];
  expect([...settings.matchAll(/(\w+): /g)].map(([, name]) => name)).toEqual(Object.keys(CONTROL_GROUP_SETTINGS));
  for (const { default: number } of [CONTROL_GROUP_SETTINGS.memoryMb, CONTROL_GROUP_SETTINGS.processes])
    expect(guide).toContain(`(${number.toLocaleString("en-US")} if omitted)`);
  expect(guide).toContain(
    `Delegate=${groupLimits(BOX_LIMITS)
      .map(({ controller }) => controller)
      .join(" ")}\n`,
  );
});

it.skipIf(hasNoBox)("docs/sandbox.md has a configuration with which programs run as it says", async () => {
  const [, code = ""] = /^```ts\n([^]*?)^```$/m.exec(guide) ?? [];
  const [imports = "", names = ""] = /^import (\{ .+ \}) from "triplane";$/m.exec(code) ?? [];
  const source = stripTypeScriptTypes(code.replace(imports, "").replace("export default", "const exported ="));
  const make = runInThisContext(`(${names}) => {\n${source}\nreturn exported;\n}`) as (
    known: Pick<typeof triplane, "defineConfig" | "presets">,
  ) => TriplaneConfig;
  const { templates, sandbox = {} } = make(triplane);
  const { model: _model, ...template } = templates["engineer"] ?? { model: "", systemPrompt: "" };
  const opened = await temporaryFolder();
  const app = await startTestApp({ template, config: { sandbox: { ...sandbox, read: [opened] } } });
  const home = join(opened, "home");
  await mkdir(home);
  await mkdir(join(app.workspace, "deploy"));
  const box = sandboxFor(app.services.sandboxes, { sandbox: template.sandbox ?? "none" });
  const argv = ["sh", "-c", "touch deploy/x 2>/dev/null || touch fine; echo x > Makefile; ls"] as const;
  const program = {
    argv,
    folder: app.workspace,
    env: { PATH: "/usr/bin" },
    workspace: app.workspace,
    home,
    look: async () => ({ covered: [], repositories: [] }),
    network: null,
    isBackground: false,
    lease: new ProgramLease(new Deadline(Infinity), { tenant: "one", agent: "a" }),
    answering: async () => true,
  };
  const { out, notes } = await ended(await box.start(program, new AbortController().signal));
  expect(out).toBe("Makefile\ndeploy\nfine\n");
  expect(notes).toHaveLength(1);
});
