import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { TemplateConfig } from "../../../src/triplane.ts";
import { AllowAlwaysDocument } from "../../generated/documents.ts";
import { hasNoBox } from "../../support/box.ts";
import { ask, office } from "../../support/office.ts";

/** An office whose agents call a tool at "go": notes.txt of their workspace is a link to a file with secrets. */
async function calling(tool: string, input: Record<string, string>, template: Partial<TemplateConfig>) {
  const replies = [
    { when: { user: "go" }, call: [{ tool, input }] },
    { when: {}, say: ["Hello."] },
  ];
  const { app, as } = await office(template, { script: { replies } });
  await writeFile(join(app.workspace, "id_rsa"), "key");
  await symlink("id_rsa", join(app.workspace, "notes.txt"));
  const { id } = await as("anna").createAgent({ workspace: app.workspace });
  return { as, id };
}

const auto = { permission: { mode: "auto" } } as const;
const rewriting = { ...auto, hooks: { preToolUse: [() => ({ input: { path: "id_rsa" } })] } };
const boxed = { ...auto, sandbox: "required" } as const;

it.each([
  ["behind a link", "fs_read", { path: "notes.txt" }, auto, "fs_read(path:{/notes.txt,/id_rsa})", false],
  ["that a hook names", "fs_read", { path: "a.txt" }, rewriting, "fs_read(path:/id_rsa)", false],
  ["that a box protects", "fs_write", { path: ".vscode/tasks.json", content: "{}" }, boxed, null, true],
])("a stored rule lets a call run in mode auto for a file %s", async (_file, tool, input, template, rule, needsBox) => {
  if (needsBox && hasNoBox) return;
  const { as, id } = await calling(tool, input, template);
  const { approvalId } = await ask(as("anna"), "go", id);
  expect((await as("paul").get(AllowAlwaysDocument, { input: { approvalId, rule } })).allowAlways.userErrors).toEqual([]);
  await as("paul").decide({ approvalId, decision: "DENY" });
  await as("anna").until(id, "DONE");
  await as("anna").turn(id, "go");
  expect((await as("anna").agent(id)).toolCalls.nodes).toMatchObject([{ state: "DENIED" }, { state: "COMPLETED" }]);
});
