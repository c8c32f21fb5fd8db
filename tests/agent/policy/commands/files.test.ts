import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import type { PermissionSource } from "../../../../src/agent/policy/permission-source.ts";
import { presets } from "../../../../src/config/presets.ts";
import { commandJudge, projectFolder } from "../../../support/command-lines.ts";
import type { Workspace } from "../../../../src/agent/workspace/workspace.ts";

/** A project with a closed folder, a link into it, and a file that may be read and not written. */
async function closedProject(): Promise<Workspace> {
  const workspace = await projectFolder();
  await mkdir(join(workspace.root, "secrets"));
  await writeFile(join(workspace.root, "secrets/key.txt"), "TOP SECRET");
  await symlink("secrets", join(workspace.root, "linked"));
  await symlink("secrets/key.txt", join(workspace.root, "link.txt"));
  return workspace;
}
/** A project with two folders that have a file of the same name, and a link to one of the folders. */
async function publicProject(): Promise<Workspace> {
  const workspace = await projectFolder();
  for (const folder of ["public", "secret"]) {
    await mkdir(join(workspace.root, folder));
    await writeFile(join(workspace.root, folder, "key.txt"), folder);
  }
  await symlink("secret", join(workspace.root, "way"));
  return workspace;
}
const DENY = ["fs_read(path:/secrets)", "fs_write(path:package.json)"];

async function verdicts(workspace: Workspace, permission: PermissionSource, lines: readonly string[]): Promise<string[]> {
  const judge = commandJudge(workspace, permission);
  return Promise.all(lines.map(async (line) => `${(await judge(line)).verdict} ${line}`));
}

describe("a file that is denied is denied to command lines", () => {
  it.each([
    "cat secrets/key.txt",
    "cat ./docs/../secrets/key.txt",
    "cat linked/key.txt",
    "cat link.txt",
    "cat 'sec'rets/key.txt",
    "head -5 src/a.ts link.txt",
    "grep -n x secrets/key.txt",
    "cat secrets/*",
    "cat sec*/key.txt",
    "cat {docs,secrets}/key.txt",
    "head -1 src/a.ts link.*",
    "sort < secrets/key.txt",
    "cd secrets && cat key.txt",
    "cd docs && cat ../link.txt",
    "git show HEAD:secrets/key.txt",
    "git -C secrets diff key.txt",
    "git blame secrets/key.txt",
    "diff src/a.ts link.txt",
    "sh -c 'cat secrets/key.txt'",
    "sudo cat link.txt",
    "echo $(cat secrets/key.txt)",
    "find . -name x -exec cat link.txt \\;",
    "cp secrets/key.txt docs/x",
    "rm -rf secrets",
    "echo x > secrets/new.txt",
    "echo x >> linked/new.txt",
    "echo x > package.json",
    "rm package.json",
    "mv package.json x",
    "cat package.json | tee ./package.json",
  ])("%s is denied in every mode", async (line) => {
    const workspace = await closedProject();
    for (const permission of [{ mode: "auto" }, presets.readOnly, { mode: "auto", allow: ["shell"] }])
      expect((await commandJudge(workspace, { ...permission, deny: DENY })(line)).verdict).toBe("deny");
  });

  it("what could open it is asked about whatever allows it: searches of its folder, and all that the table does not prove", async () => {
    const asked = [
      "grep -r x .",
      "grep -rn x",
      "rg x",
      "diff -N . src",
      "diff . src",
      "diff docs .",
      "diff src/a.ts .",
      "find . -name '*.txt'",
      "cat secrets/[!a]*",
      "grep -f secrets/key.txt src/a.ts",
      "cat $X",
      "cat ~/x",
      "git diff",
      "git show HEAD",
      "git log -p",
      "git diff --stat -p",
      "git show --name-only HEAD",
      "git cat-file -p HEAD",
      "git grep x",
      "cp -r . /tmp/x",
      "node x.js",
      "npm test",
      "python3 -c 'open(\"secrets/key.txt\")'",
      "sh -c 'cat $X'",
      "cd $X && cat key.txt",
      "cd docs; cd missing; cat key.txt",
      "echo 'cat x",
    ];
    const free = [
      "cat src/a.ts",
      "diff src/a.ts src/b.ts",
      "diff src docs",
      "diff -r src docs",
      "grep -rn x src",
      "find src -name '*.ts'",
      "git log --oneline",
      "git diff --stat",
      "git status",
      "cat package.json",
      "ls",
    ];
    const permission = { ...presets.readOnly, deny: DENY, allow: ["shell", "shell(command:*)", "shell(command:npm test)"] };
    expect(await verdicts(await closedProject(), permission, asked)).toEqual(asked.map((line) => `ask ${line}`));
    expect(await verdicts(await closedProject(), permission, free)).toEqual(free.map((line) => `allow ${line}`));
    const auto = { mode: "auto", deny: DENY };
    expect(await verdicts(await closedProject(), auto, asked)).toEqual(asked.map((line) => `ask ${line}`));
  });

  it.each([
    "false && cd src; cat key.txt",
    "[ -f nope ] && cd src; cat key.txt",
    "! true && cd src; cat key.txt",
    "false && cd src\ncat key.txt",
    "false && cd src || cat key.txt",
    "false && cd src && ls || cat key.txt",
    "pwd && cd src && ls; cat key.txt",
    "true || cd src && cat key.txt",
    "cd src && cd deep; cat key.txt",
  ])("%s is asked about: a cd behind an operator holds for its own && chain", async (line) => {
    const workspace = await closedProject();
    const judge = commandJudge(workspace, { ...presets.readOnly, deny: ["fs_read(path:/key.txt)"] });
    expect((await judge(line)).verdict).toBe("ask");
    expect((await judge("pwd && cd src && cat key.txt && cd deep && cat key.txt")).verdict).toBe("allow");
    expect((await judge("cd src; cat key.txt || cat key.txt; ls")).verdict).toBe("allow");
    expect((await judge("pwd && cd src && cat $(cat key.txt)")).verdict).toBe("ask");
  });

  it.each([
    "cd . < src; cat key.txt",
    "cd src < missing; cat key.txt",
    "cd src > docs/new.md; cat key.txt",
    "cd src <&7; cat key.txt",
    "cd src {n}>/dev/null; cat key.txt",
    "cd link && cd .. && cat key.txt",
    "cd link && cd b/.. && cd .. && cat key.txt",
    "cd link/.. && cat key.txt",
    "cat link/../key.txt",
    "git -C link/.. diff --stat key.txt",
    "cd link && cd deep; cat key.txt",
    "cat $'\\x{6b}ey.txt'",
    "cat $'key.txt\\x{0}y'",
    "cat $'key.txt\\0y'",
    "cat $'key.txt\\400y'",
    "cat $'key.tx\\x{74}'",
  ])("%s is asked about: the shell may stand elsewhere, or read another word", async (line) => {
    const workspace = await closedProject();
    await mkdir(join(workspace.root, "deep/a/b"), { recursive: true });
    await symlink("deep/a/b", join(workspace.root, "link"));
    const deny = ["fs_read(path:/key.txt)", "fs_read(path:/deep/a/key.txt)"];
    const judge = commandJudge(workspace, { ...presets.readOnly, deny });
    expect((await judge(line)).verdict).toBe("ask");
    for (const plain of [
      "cd src/deep && cd .. && cat key.txt",
      "cd src 2>/dev/null; cat key.txt",
      "cd link && cat key.txt",
      "cat src/../docs/key.txt",
      "cat $'docs\\x2fkey.txt'",
    ])
      expect((await judge(plain)).verdict, plain).toBe("allow");
  });

  it("a box keeps it closed, so that lines are not asked about for it", async () => {
    const workspace = await closedProject();
    const judge = commandJudge(workspace, { mode: "auto", deny: DENY }, true);
    for (const line of ["npm test", "grep -r x .", "cat $X", "cat ~/x", "cat /etc/hosts"])
      expect((await judge(line)).verdict, line).toBe("allow");
    expect((await judge("cat link.txt")).verdict).toBe("deny");
  });
});

describe("a file that a command puts into a folder", () => {
  it.each([
    "cp public/key.txt secret",
    "cp public/key.txt ./secret/",
    "cp -f public/key.txt secret",
    "cp src/a.ts public/key.txt secret",
    "cp public/key.txt way",
    "mv public/key.txt secret",
    "mv -f src/b.ts public/key.txt secret",
    "cd public && cp key.txt ../secret",
    "cd secret && cp ../public/key.txt .",
    "sudo cp public/key.txt secret",
  ])("is denied where a rule denies the file of that name: %s", async (line) => {
    const workspace = await publicProject();
    for (const access of ["read", "write"])
      for (const permission of [
        { mode: "auto" },
        { ...presets.readOnly, allow: ["shell(command:{cp,mv} *)", "shell(command:cd *)"] },
      ])
        expect(
          (await commandJudge(workspace, { ...permission, deny: [`fs_${access}(path:/secret/key.txt)`] })(line)).verdict,
        ).toBe("deny");
  });

  it("is the file that is named, if no folder is there", async () => {
    const deny = ["fs_write(path:/secret/key.txt)", "fs_write(path:/src/b.ts/a.ts)", "fs_write(path:/src/new/a.ts)"];
    const lines = ["cp public/key.txt src", "cp src/a.ts secret", "cp src/a.ts src/b.ts", "mv src/a.ts src/new"];
    expect(await verdicts(await publicProject(), { mode: "auto", deny }, lines)).toEqual(lines.map((line) => `allow ${line}`));
  });

  it("is asked about if the file of that name leads out of the workspace", async () => {
    const workspace = await publicProject();
    await symlink("/etc/hosts", join(workspace.root, "src/key.txt"));
    const permission = { ...presets.askAll, allow: ["shell(command:cp *)"] };
    expect(await verdicts(workspace, permission, ["cp public/key.txt src", "cp public/key.txt docs"])).toEqual([
      "ask cp public/key.txt src",
      "allow cp public/key.txt docs",
    ]);
  });
});

describe("a file that a command gives another name", () => {
  const LINKING: PermissionSource = {
    ...presets.readOnly,
    allow: ["shell(command:{ln,link,cp,mv,mkdir,install,cd,echo} *)", "fs_write"],
    deny: [
      "fs_*(path:/secret/key.txt)",
      "fs_write(path:/package.json)",
      "fs_*(path:/secret/later.txt)",
      "fs_write(path:/.github/x.txt)",
    ],
  };

  it.each([
    "ln secret/key.txt x",
    "ln -s secret/key.txt x",
    "ln -s src lib",
    "link secret/key.txt x",
    "cp -l package.json x",
    "cp -s src/a.ts x",
    "install -m 644 public/key.txt secret",
    "mv src x",
    "mkdir -p x && mv x src",
    "ln -s secret x && cat x/key.txt",
    "ln -s ../secret public/x && cat public/x/key.txt",
    "ln -s secret x && echo a > x/later.txt",
    "ln -s . x && echo a > x/secret/later.txt",
    "mv secret x; echo a > x/later.txt; mv x secret",
    "cp -r public secret",
    "ln -s src/deep x && cat x/../a.ts",
    "cat x/../a.ts | ln -s src/deep x",
    "mv public x && ln -s secret public && cd public && cat ../a.ts",
    "diff -N links docs",
    "cp -r links x && cat x/way/key.txt",
    "mv public .github",
    "cp -a public .github",
    "mv links x && cat x/way/key.txt",
  ])("or a folder, is asked about beside rules that deny paths: %s", async (line) => {
    const workspace = await publicProject();
    await mkdir(join(workspace.root, "links"));
    await symlink("../secret", join(workspace.root, "links/way"));
    expect(await verdicts(workspace, LINKING, [line])).toEqual([`ask ${line}`]);
  });

  it("is no other file", async () => {
    const lines = ["mkdir -p x", "mv src/a.ts x", "mkdir -p x; cd src && cat a.ts", "cp src/a.ts x && cat docs/readme.md"];
    expect(await verdicts(await publicProject(), LINKING, lines)).toEqual(lines.map((line) => `allow ${line}`));
  });

  it.each([
    "mkdir new && cp public/key.txt new",
    "mkdir -p new && mv public/key.txt new",
    "mkdir new; cp src/a.ts public/key.txt new",
    "cp -r docs new && cp public/key.txt new",
    "rm -f new && mkdir new && mv public/key.txt new",
    "cp public/key.txt new | mkdir new",
    "./make-folder && cp public/key.txt new",
    "sh -c 'mkdir new' && cp public/key.txt new",
  ])("lies in a folder that the line makes: %s", async (line) => {
    const deny = ["fs_write(path:/new/key.txt)"];
    expect(await verdicts(await publicProject(), { mode: "auto", deny }, [line])).toEqual([`deny ${line}`]);
  });
});

describe("files that command lines name", () => {
  it("with secrets, and out of the workspace, are asked about in every mode, unless an allow rule names them", async () => {
    const workspace = await projectFolder();
    await writeFile(join(workspace.root, ".env"), "A=1");
    const asked = [
      "cat .env",
      "sort < .env",
      "cat ./src/../.env",
      "cat /etc/hosts",
      "ls ..",
      "cat out/hosts",
      "git show HEAD:.env",
      "base64 .env",
      "awk 1 src/a.ts .env",
      "grep -f .env src/a.ts",
      "python3 -c x /etc/hosts",
      `node ${relative(workspace.root, "/etc/hosts")}`,
      "grep -r A .",
      "find . -exec cat {} +",
      "echo x > /etc/x",
      "cd .. && ls",
    ];
    for (const permission of [
      { mode: "auto" },
      presets.readOnly,
      { ...presets.askAll, allow: ["shell(command:cat *)", "shell(command:*)"] },
    ])
      expect(await verdicts(workspace, permission, asked)).toEqual(asked.map((line) => `ask ${line}`));
    const allow = ["shell(command:cat .env)", "shell(command:cat /etc/hosts)"];
    expect(await verdicts(workspace, { ...presets.askAll, allow }, ["cat .env", "cat /etc/hosts"])).toEqual([
      "allow cat .env",
      "allow cat /etc/hosts",
    ]);
    // rg passes over hidden files.
    expect(await verdicts(workspace, presets.readOnly, ["rg A", "grep -r A src"])).toEqual(["allow rg A", "allow grep -r A src"]);
  });

  it("are judged by ask rules for paths, and writing them by allow rules for paths", async () => {
    const workspace = await projectFolder();
    const permission = {
      ...presets.readOnly,
      ask: ["fs_read(path:/customers)"],
      allow: ["fs_write(path:docs)", "shell(command:npm run *)"],
    };
    expect(
      await verdicts(workspace, permission, [
        "cat customers/list.csv",
        "cat src/a.ts",
        "grep -r x .",
        "grep -r x src",
        "echo x > docs/new.md",
        "echo x > src/new.ts",
        "npm run build > docs/log.txt",
        "npm run build > log.txt",
        "npm run build > /dev/null 2>&1",
        "cat src/a.ts > customers/x",
      ]),
    ).toEqual([
      "ask cat customers/list.csv",
      "allow cat src/a.ts",
      "ask grep -r x .",
      "allow grep -r x src",
      "allow echo x > docs/new.md",
      "ask echo x > src/new.ts",
      "allow npm run build > docs/log.txt",
      "ask npm run build > log.txt",
      "allow npm run build > /dev/null 2>&1",
      "ask cat src/a.ts > customers/x",
    ]);
  });

  it("behind >& are what is written only if bash has nothing more to take from their names", async () => {
    const workspace = await projectFolder();
    const permission = { ...presets.readOnly, allow: ["fs_write(path:/build)"] };
    const named = ["build/log", "'build/a b'", "build/a-1.txt", "build/é"].map((target) => `echo x >&${target}`);
    const unusual = [
      "'build/\\../README.md'",
      '"build/\\../README.md"',
      "build/\\\\../README.md",
      "'build/$(touch x)'",
      "'build/`touch x`'",
      "'build/$HOME'",
      "'build/a{b,c}'",
      "'build/*'",
      "build/a\\[b]",
      "'~/x'",
      "'<(touch x)'",
      "-build/x",
    ].map((target) => `echo x >&${target}`);
    expect(await verdicts(workspace, permission, [...named, ...unusual])).toEqual([
      ...named.map((line) => `allow ${line}`),
      ...unusual.map((line) => `ask ${line}`),
    ]);
  });

  it("are looked for in the words of commands that the table does not know, behind their links, too", async () => {
    const workspace = await projectFolder();
    await writeFile(join(workspace.root, ".env"), "A=1");
    for (const [name, target] of [
      ["link.py", "/etc/hosts"],
      ["new.py", "/nowhere/new"],
      ["plain.txt", ".env"],
    ] as const)
      await symlink(target, join(workspace.root, name));
    const permission = { ...presets.askAll, allow: ["shell(command:{gcc,python3,npm run,git commit -m,cd} *)"] };
    const asked = [
      "python3 out/evil.py",
      "python3 ./out/evil.py",
      "python3 out/*.py",
      "python3 link.py",
      "python3 new.py",
      "python3 plain.txt",
      "cd docs && python3 ../link.py",
      "gcc @README.md a.c",
      "gcc @out/hosts a.c",
      "gcc @../x a.c",
    ];
    const free = [
      "python3 src/a.ts",
      "python3 src/*.py",
      "python3 later.py",
      "cd docs && python3 link.py",
      "gcc @missing a.c",
      "npm run @src/deep",
      "npm run @",
      "npm run ''",
      "git commit -m 'src: 1/2 of it'",
      `git commit -m '${"long ".repeat(100)}'`,
    ];
    expect(await verdicts(workspace, permission, [...asked, ...free])).toEqual([
      ...asked.map((line) => `ask ${line}`),
      ...free.map((line) => `allow ${line}`),
    ]);
  });

  it("with secrets do not keep from what tells names only; denied ones do", async () => {
    const workspace = await projectFolder();
    await writeFile(join(workspace.root, ".env"), "A=1");
    await writeFile(join(workspace.root, "src/.env"), "A=1");
    const names = [
      "du -sh .",
      "du -ah src",
      "tree -a",
      "tree -L 2 src",
      "ls -R",
      "ls -laR src",
      "rg --files",
      "rg --files -g '*' src",
    ];
    for (const permission of [
      presets.readOnly,
      { mode: "auto" },
      { ...presets.askAll, allow: ["shell(command:{du,tree,ls,rg} *)"] },
    ])
      expect(await verdicts(workspace, permission, names)).toEqual(names.map((line) => `allow ${line}`));
    const contents = ["grep -r A .", "rg -g '*' A", "du -sh . && cat .env"];
    expect(await verdicts(workspace, presets.readOnly, contents)).toEqual(contents.map((line) => `ask ${line}`));
    const denying = { ...presets.readOnly, deny: ["fs_read(path:/src/a.ts)"] };
    expect(await verdicts(workspace, denying, ["du -a", "tree", "ls -R src", "ls -R docs", "ls src"])).toEqual([
      "ask du -a",
      "ask tree",
      "ask ls -R src",
      "allow ls -R docs",
      "allow ls src",
    ]);
  });

  it("are looked for in up to 20,000 entries; of more it is asked", async () => {
    const workspace = await projectFolder();
    await mkdir(join(workspace.root, "many"));
    await Promise.all(Array.from({ length: 201 }, (_, folder) => mkdir(join(workspace.root, `many/${folder}`))));
    for (let folder = 0; folder < 201; folder += 1)
      await Promise.all(Array.from({ length: 100 }, (_, file) => mkdir(join(workspace.root, `many/${folder}/${file}`))));
    expect(await verdicts(workspace, presets.readOnly, ["grep -r x .", "grep -r x src"])).toEqual([
      "ask grep -r x .",
      "allow grep -r x src",
    ]);
  });

  it("are those of the folder in which the line runs", async () => {
    const workspace = await projectFolder();
    await writeFile(join(workspace.root, "docs/.env"), "A=1");
    const judge = commandJudge(workspace, presets.readOnly);
    expect((await judge("cat readme.md", "docs")).verdict).toBe("allow");
    expect((await judge("cat .env", "docs")).verdict).toBe("ask");
    expect((await judge("cat ../docs/readme.md", "docs")).verdict).toBe("allow");
    expect((await judge("cat ../../x", "docs")).verdict).toBe("ask");
    expect((await judge("grep -r A .", "docs")).verdict).toBe("ask");
    expect((await judge("ls", "..")).verdict).toBe("deny");
  });
});
