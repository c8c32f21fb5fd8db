import { execFileSync } from "node:child_process";
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** The text that no line which runs unasked may print. */
export const CANARY = "CANARY-5e1f";

/** The folders of a kind of workspace: what lines may change nowhere. */
export type Fixture = { readonly kind: string; readonly workspace: string; readonly outside: string };

const KINDS = ["plain", "links", "nested", "configured", "linked repository", "no repository"] as const;

/** Lays out the workspaces in which lines are judged, each with a folder beside it that is out of it. */
export async function layOut(folder: string): Promise<readonly Fixture[]> {
  const fixtures: Fixture[] = [];
  for (const kind of KINDS) {
    const place = join(folder, kind.replaceAll(" ", "-"));
    const fixture = { kind, workspace: join(place, "project"), outside: join(place, "outside") };
    await mkdir(fixture.outside, { recursive: true });
    await write(fixture.outside, { "secret.txt": `${CANARY}-outside\n` });
    await project(fixture);
    fixtures.push(fixture);
  }
  return fixtures;
}

async function project({ kind, workspace, outside }: Fixture): Promise<void> {
  await write(workspace, {
    "README.md": "# Project\nTODO a b c\n",
    "package.json": '{"name":"x","version":"1.0.0"}\n',
    "src/a.ts": "export const a = 1; // TODO\n",
    "src/b.ts": "export const b = 2;\n",
    "docs/readme.md": "text\n",
    "a b.txt": "blank\n",
    "{a,b}.txt": "braces\n",
    "[ab].txt": "brackets\n",
    "é.txt": "accent\n",
    "--output=x": "an option\n",
    "-n": "an option\n",
    "@args": "-f .env\n",
    ".npmrc": `//host/:_authToken=${CANARY}-npm\n`,
    ".gitignore": ".env\n.npmrc\n*.pem\n",
    ".env": `KEY=${CANARY}-env\n`,
    "conf/.env": `KEY=${CANARY}-conf\n`,
    "keys/key.pem": `${CANARY}-pem\n`,
    "bin/rg": marking(outside, "path"),
  });
  await chmod(join(workspace, "bin/rg"), 0o755);
  await symlink("src", join(workspace, "inside"));
  if (kind === "links") {
    await symlink(join(outside, "secret.txt"), join(workspace, "-"));
    await symlink(join(outside, "secret.txt"), join(workspace, "link.txt"));
    await symlink(outside, join(workspace, "out"));
    await symlink("../.env", join(workspace, "docs/plain.txt"));
  }
  if (kind === "no repository") return;
  repository(workspace);
  if (kind === "plain") git(workspace, "config", "user.email", "a@example.org");
  if (kind === "linked repository") await symlink("../../.env", join(workspace, ".git/info/grafts"));
  if (kind === "nested") {
    const dependency = join(workspace, "node_modules/x");
    await write(dependency, { "index.js": "a\n", ".env": `KEY=${CANARY}-dependency\n` });
    repository(dependency);
    const sub = join(workspace, "sub");
    await write(sub, { "f.txt": "a\n", ".gitattributes": "* filter=x diff=x\n", ".env": `KEY=${CANARY}-nested\n` });
    repository(sub);
    await write(sub, { ".git/info/exclude": "!.env\n" });
    git(workspace, "add", "sub");
    git(workspace, "commit", "-q", "-m", "nested");
    obey(sub, outside);
    await write(sub, { "f.txt": "b\n" });
  }
  if (kind === "configured") {
    await write(workspace, { ".gitattributes": "* filter=x diff=x\n" });
    git(workspace, "add", ".gitattributes");
    git(workspace, "commit", "-q", "-m", "attributes");
    obey(workspace, outside);
    await write(workspace, { "README.md": "# Changed\n" });
  }
}

/** A configuration by which git runs a program that leaves a mark, on every way that is known. */
function obey(repositoryFolder: string, outside: string): void {
  const program = `touch '${outside}/MARK'; cat`;
  for (const [name, value] of [
    ["filter.x.clean", program],
    ["filter.x.smudge", program],
    ["diff.x.textconv", program],
    ["diff.x.command", program],
    ["diff.external", program],
    ["core.fsmonitor", `${program}; false`],
    ["core.pager", program],
    ["pager.log", program],
    ["alias.st", `!${program}`],
    ["gpg.program", program],
  ] as const)
    git(repositoryFolder, "config", name, value);
}

function marking(outside: string, what: string): string {
  return `#!/bin/sh\ntouch '${outside}/MARK-${what}'\n`;
}

function repository(folder: string): void {
  git(folder, "init", "-q", "-b", "main");
  git(folder, "add", "-A");
  git(folder, "commit", "-q", "-m", "first");
  git(folder, "commit", "-q", "--allow-empty", "-m", "second");
}

function git(folder: string, ...args: readonly string[]): void {
  const author = ["user.name=A", "user.email=a@example.org", "commit.gpgSign=false", "advice.addEmbeddedRepo=false"].flatMap(
    (each) => ["-c", each],
  );
  execFileSync("git", [...author, ...args], {
    cwd: folder,
    stdio: "ignore",
    env: { PATH: process.env["PATH"] },
  });
}

async function write(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  }
}
