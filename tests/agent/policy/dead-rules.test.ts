import { describe, expect, it } from "vitest";
import { deadRules } from "../../../src/agent/policy/dead-rules.ts";
import { readPermission, type PermissionSource } from "../../../src/agent/policy/permission-source.ts";
import { BUILTIN_TOOLS } from "../../../src/agent/tools/builtin.ts";
import { presets } from "../../../src/triplane.ts";

const tools = new Map(BUILTIN_TOOLS.map((tool) => [tool.name, tool]));
const BOX = { protectedPaths: [] };

function notes(source: PermissionSource, box: typeof BOX | null = null): readonly string[] {
  const { permission, problems } = readPermission(source, "templates.t.permission", { tools, modes: new Map() });
  expect(problems).toEqual([]);
  return deadRules({ permission, box }, tools);
}

describe("a rule that decides nothing is told, with what decides before it", () => {
  it.each<[name: string, PermissionSource, expected: RegExp]>([
    [
      "an ask rule whose calls an allow rule takes in",
      { allow: ["bash_run(command:git status *)"], ask: ["bash_run(command:git status)"] },
      /^templates\.t\.permission\.ask\.0: bash_run\(command:git status\) asks about nothing: bash_run of `git status` runs, since .*git status \*.* \(templates\.t\.permission\.allow\.0\)/,
    ],
    [
      "an ask rule within the folder of an allow rule",
      { allow: ["fs_write(path:src/**)"], ask: ["fs_write(path:src/secret/**)"] },
      /ask\.0: .* asks about nothing: fs_write of `src\/secret\/x` runs, since the rule fs_write\(path:src\/\*\*\) allows it/,
    ],
    [
      "an allow rule for commands beside a deny rule that closes files to them",
      { deny: ["fs_*(path:secrets)"], allow: ["bash_run(command:npm run test:*)"] },
      /allow\.0: .* lets nothing run: bash_run of `npm run test:x` is asked about, since .*fs_\*\(path:secrets\)/,
    ],
    [
      "an allow rule within a deny rule",
      { deny: ["bash_run(command:npm)"], allow: ["bash_run(command:npm test)"] },
      /allow\.0: .* lets nothing run: bash_run of `npm test` is denied, since .*deny\.0/,
    ],
    [
      "an allow rule of a tool that denyTools names",
      { denyTools: ["fs_write"], allow: ["fs_write(path:src/**)"] },
      /allow\.0: .* lets nothing run: fs_write of `src\/x` is denied, since denyTools forbids fs_write/,
    ],
    [
      "an allow rule in a mode that forbids",
      { mode: "readonly", allow: ["fs_write"] },
      /allow\.0: fs_write lets nothing run: .* mode readonly/,
    ],
  ])("%s", (_name, source, expected) => {
    expect(notes(source)).toEqual([expect.stringMatching(expected)]);
  });

  it("and not one that decides some call: of several tools, by wildcards, in a box", () => {
    const alive: readonly PermissionSource[] = [
      { allow: ["bash_run(command:npm *)"], ask: ["bash_run(command:curl)"] },
      { denyTools: ["fs_write"], allow: ["fs_*(path:src/**)"] },
      { allow: ["fs_write(path:src/{a,b}/*.ts)", "fs_read", "bash_run(command:git commit -m *)"], ask: ["fs_*(path:docs)"] },
      { mode: "auto", allow: ["bash_run(command:git push)"], ask: ["bash_run(command:git push)"] },
      { allow: ["fs_write(path:{docs,src}/**)"], ask: ["fs_write(path:{src,lib}/**)"] },
      { deny: ["bash_run(command:rm)"], allow: ['bash_run(command:"{rm,mv} build/*")'] },
      { allow: ['fs_write(path:"/a, b.txt")', "fs_read(path:.env)", "bash_run(background:true)"] },
    ];
    for (const source of alive) expect(notes(source)).toEqual([]);
    expect(notes({ deny: ["fs_*(path:secrets)"], allow: ["bash_run(command:npm run test:*)"] }, BOX)).toEqual([]);
  });

  it.each([
    ["deny", "memory(path:kept/*)"],
    ["allow", "memory(path:/memory/notes/*)"],
    ["ask", "memory(command:view, path:{kept,/mem})"],
  ] as const)("a rule whose path no memory has: %s %s", (list, rule) => {
    expect(notes({ [list]: [rule] })).toEqual([
      `templates.t.permission.${list}.0: ${rule} matches no path: paths of a memory begin with /memories/.`,
    ]);
  });

  it.each(["*", "*/kept/*", "/memories", "/memories/*", "/mem*/x", "/memories/{a,b}/*", "{kept,/memories/kept}/*"])(
    "and not one whose path a memory may have: %s",
    (path) => {
      expect(notes({ deny: [`memory(path:${path})`] })).toEqual([]);
    },
  );

  it("of presets none is", () => {
    for (const preset of Object.values(presets)) for (const box of [null, BOX]) expect(notes(preset, box)).toEqual([]);
  });
});
