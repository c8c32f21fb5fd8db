import { readFile } from "node:fs/promises";
import { isEnumType, isInputObjectType, isInterfaceType, isObjectType } from "graphql";
import { expect, it } from "vitest";
import { PERMISSION_SETTINGS } from "../../src/agent/policy/permission-source.ts";
import { BUILTIN_TOOLS } from "../../src/agent/tools/builtin.ts";
import { CONFIG_SETTINGS } from "../../src/config/config.ts";
import { HOOK_SETTINGS, TEMPLATE_SETTINGS } from "../../src/config/template-settings.ts";
import { schema } from "../../src/schema/index.ts";

/** All names by which people speak of what there is here. */
function ownNames(): ReadonlySet<string> {
  const types = Object.values(schema.getTypeMap());
  const ofSchema = types.map(({ name }) => name);
  for (const type of types) {
    if (isObjectType(type) || isInterfaceType(type) || isInputObjectType(type)) ofSchema.push(...Object.keys(type.getFields()));
    if (isEnumType(type)) ofSchema.push(...type.getValues().map(({ name }) => name));
  }
  const settings = [CONFIG_SETTINGS, TEMPLATE_SETTINGS, HOOK_SETTINGS, PERMISSION_SETTINGS].flatMap((group) =>
    Object.keys(group),
  );
  return new Set([...ofSchema, ...settings, ...BUILTIN_TOOLS.map(({ name }) => name), "defineTool"]);
}

it("docs/from-other-systems.md names nothing of ours that is not there", async () => {
  const text = await readFile(new URL("../../docs/from-other-systems.md", import.meta.url), "utf8");
  const rows = [...text.matchAll(/^\| (?!there|---)(.+) \| (.*) \| ?(.*) \|$/gm)].map(([, , here = ""]) => here);
  expect(rows.length).toBeGreaterThan(45);
  const names = rows.flatMap((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name));
  const known = ownNames();
  const unknown = names.filter(
    (name) => !known.has(name) && name !== "idempotent" && name !== "inputSchema" && name !== "readOnly",
  );
  expect(unknown).toEqual([]);
  const tool = await readFile(new URL("../../src/agent/tools/tool.ts", import.meta.url), "utf8");
  for (const name of ["idempotent", "inputSchema", "readOnly"]) expect(tool).toContain(`readonly ${name}`);
});
