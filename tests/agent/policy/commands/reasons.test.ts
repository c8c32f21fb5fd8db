import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Workspace } from "../../../../src/agent/workspace/workspace.ts";
import { presets } from "../../../../src/config/presets.ts";
import { commandJudge, projectFolder } from "../../../support/command-lines.ts";
import { git } from "../../../support/repository.ts";

describe("the parts of a line about which an agent's own permission asks as well as its template's", () => {
  const parts = async (line: string, template: object, own: object) => {
    const { verdict, reason, parts: found } = await commandJudge(await projectFolder(), template, false, [], own)(line);
    return { verdict, reason, parts: found?.map((part) => [line.slice(part.start, part.end), part.reason]) };
  };
  const asks = (rule: string) => ({ mode: "auto", ask: [rule] }) as const;

  it("are joined, each once and in their order", async () => {
    const line = "rm a; make b; npm run c";
    expect(await parts(line, asks("shell(command:{make *,npm *})"), asks("shell(command:{rm *,make *})"))).toEqual({
      verdict: "ask",
      reason: expect.stringContaining("characters 7 to 12 of command"),
      parts: [
        ["rm a", "shell(command:{rm *,make *}) asks for it"],
        ["make b", "shell(command:{make *,npm *}) asks for it"],
        ["npm run c", "shell(command:{make *,npm *}) asks for it"],
      ],
    });
    expect(await parts("rm a; npm x", asks("shell(command:npm *)"), { mode: "auto" })).toMatchObject({
      parts: [["npm x", expect.anything()]],
    });
  });

  it("are those of the permission that denies, if one does", async () => {
    const denies = { mode: "auto", deny: ["shell(command:rm *)"] } as const;
    for (const [template, own] of [
      [asks("shell(command:npm *)"), denies],
      [denies, asks("shell(command:npm *)")],
    ] as const)
      expect(await parts("rm a; npm x", template, own)).toMatchObject({ verdict: "deny", parts: [["rm a", expect.anything()]] });
    expect(await parts("rm a; npm x", denies, { mode: "auto", deny: ["shell(command:npm *)"] })).toMatchObject({
      verdict: "deny",
      parts: [
        ["rm a", expect.anything()],
        ["npm x", expect.anything()],
      ],
    });
  });
});

describe("the reason of a part that is asked about", () => {
  it.each([
    [
      "npm --script-shell /x run build",
      '"--script-shell" must stand in the rule shell(command:npm *): an option that is not known to be harmless',
    ],
    [
      "npm run build --script-shell=/x",
      '"--script-shell=/x" must stand in the rule shell(command:npm *): npm run "--script-shell=/x" is not known to be harmless',
    ],
    [
      "npm run build -- --watch",
      '"--watch" must stand in the rule shell(command:npm *): an option that is not known to be harmless',
    ],
    [
      "git commit -m x --amend",
      '"--amend" must stand in the rule shell(command:git *): git commit "--amend" is not known to be harmless',
    ],
    ["git rebase -q x", '"-q" must stand in the rule shell(command:git *): an option that is not known to be harmless'],
    [
      "npm run build $X",
      '"$X" must stand in the rule shell(command:npm *): only the shell knows what "$X" is: it has a variable or substitution',
    ],
    ["npm exec rm src", '"rm" must stand in the rule shell(command:npm *): it says what is run'],
    ["mv -f src docs", '"-f" must stand in the rule shell(command:"{rm *,mv *}"): it changes more than is named'],
    ["cargo test:unit -- --x", 'the rule shell(command:cargo test:*) ends before "--": it has no " *" for more words'],
    ["cargo test:unit a b", 'the rule shell(command:cargo test:*) ends before "a": it has no " *" for more words'],
    ["cargo tests", "cargo tests is not known to only read"],
    ["npm --silent run $X > build", "it writes build, and no allow rule names that file"],
    ["tsc --outDir x", "tsc is not known to only read"],
    ["git diff --output=x", 'git diff "--output=x" is not known to be harmless'],
    ["make --jobs=3", "make --jobs is not known to only read"],
    ["docker --host x ps", "docker --host is not known to only read"],
    ["docker -H x ps", "docker is not known to only read"],
    ["xargs -n1 echo", "xargs runs another command"],
    ["xargs -0 -r wc -l", "xargs runs another command"],
    ["xargs -I{} wc -l {}", "xargs puts what it reads into the command"],
    ["xargs -I{} {} x", "the name of a command is not written out"],
    ["docker foo=bar", "docker is not known to only read"],
  ])("names the word that keeps a rule from taking it in, or the option before its command: %s", async (line, reason) => {
    const allow = [
      "shell(command:npm *)",
      "shell(command:git *)",
      'shell(command:"{rm *,mv *}")',
      "shell(command:tsc *, cwd:docs)",
      "shell(command:cargo test:*)",
    ];
    const { verdict, parts } = await commandJudge(await projectFolder(), { ...presets.askAll, allow })(line);
    expect(verdict).toBe("ask");
    expect(parts?.map((part) => part.reason)).toEqual([reason]);
  });

  it.each<[string, string, string, (workspace: Workspace) => Promise<void>]>([
    [
      "a link that leads out of the workspace",
      "grep -R K src",
      "src has a link that leads out of the workspace",
      async ({ root }) => symlink("/etc", join(root, "src/out")),
    ],
    [
      "a folder that is not found by its name",
      "grep -r K src",
      "src has a folder whose name is not UTF-8",
      async ({ root }) => void execFileSync("bash", ["-c", "mv deep $'d\\xe9'"], { cwd: join(root, "src") }),
    ],
    [
      "a link that is not found by its name",
      "grep -R K src",
      "src has a folder whose name is not UTF-8",
      async ({ root }) => void execFileSync("bash", ["-c", "ln -s /etc $'l\\xe9'"], { cwd: join(root, "src") }),
    ],
    [
      "a repository that lies around the workspace",
      "git diff",
      "the repository begins outside of the workspace",
      async ({ root }) => writeFile(join(root, "../.git"), ""),
    ],
    [
      "a repository of which nobody can say what it tracks",
      "git diff",
      "a repository in the workspace tracks more files than are looked at, or does not say which",
      async ({ root }) => {
        git(root, "init", "-q");
        await writeFile(join(root, ".git/index"), "no index");
      },
    ],
    [
      "more entries",
      "grep -r K src",
      "src has more entries than are looked at",
      async ({ root }) => {
        await mkdir(join(root, "src/many"));
        for (let name = 0; name < 20_000; name += 1) writeFileSync(join(root, "src/many", String(name)), "");
      },
    ],
  ])("says why nobody looked through a folder: %s", async (_name, line, reason, make) => {
    const workspace = await projectFolder("workspace");
    await make(workspace);
    const { verdict, parts } = await commandJudge(workspace, presets.readOnly)(line);
    expect(verdict).toBe("ask");
    expect(parts?.map((part) => part.reason)).toEqual([reason]);
  });

  it("names the word for a rule that people have stored, too", async () => {
    const judge = commandJudge(await projectFolder(), presets.askAll, false, ["shell(command:npm run *)"]);
    const { parts } = await judge("npm run build --script-shell=/x && npm run lint");
    expect(parts?.map(({ reason }) => reason)).toEqual([
      '"--script-shell=/x" must stand in the rule shell(command:npm run *): npm run "--script-shell=/x" is not known to be harmless',
    ]);
  });
});
