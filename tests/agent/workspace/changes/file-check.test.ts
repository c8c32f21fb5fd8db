import { createHash } from "node:crypto";
import { lstat, mkdir, rename, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { checkFiles } from "../../../../src/agent/workspace/changes/file-check.ts";
import { stampOf, toState, type RememberedFile } from "../../../../src/agent/workspace/known-files.ts";
import { temporaryFolder } from "../../../support/app.ts";

/** A file of this content, as an agent knows it that has just read it. */
async function knownFile(root: string, path: string, content: string): Promise<RememberedFile> {
  await writeFile(join(root, path), content);
  const state = toState(await lstat(join(root, path), { bigint: true }));
  const digest = createHash("sha256").update(content).digest("hex");
  return { path, callId: "call", digest, stamp: stampOf(state), bytes: content.length, change: null };
}

it("a look tells what is changed, removed and made again from what is only touched, and says each once", async () => {
  const root = await temporaryFolder();
  const names = ["same", "touched", "longer", "other", "removed", "link", "folder"];
  const files = await Promise.all(names.map((name) => knownFile(root, name, name)));
  await utimes(join(root, "touched"), 1, 1);
  await writeFile(join(root, "longer"), "longer than before");
  await writeFile(join(root, "other"), "rehto");
  for (const name of ["removed", "link", "folder"]) await rm(join(root, name));
  await symlink("same", join(root, "link"));
  await mkdir(join(root, "folder"));
  const { changes, untouched } = await checkFiles(root, files);
  expect(Object.fromEntries(changes.map(({ file, change }) => [file.path, change]))).toEqual({
    longer: "CHANGED",
    other: "CHANGED",
    removed: "REMOVED",
    link: "CHANGED",
    folder: "CHANGED",
  });
  expect(untouched.map(({ file }) => file.path)).toEqual(["touched"]);
  const changed = new Map(changes.map(({ file, change }) => [file, change]));
  const after = files.map((file): RememberedFile => Object.assign({}, file, { change: changed.get(file) ?? null }));
  expect((await checkFiles(root, after)).changes).toEqual([]);
  await writeFile(join(root, "removed"), "removed");
  await writeFile(join(root, "longer"), "yet another");
  await rm(join(root, "other"));
  const { changes: next } = await checkFiles(root, after);
  expect(next.map(({ file, change }) => [file.path, change])).toEqual([
    ["other", "REMOVED"],
    ["removed", "MADE_AGAIN"],
  ]);
});

it("a look says nothing on a server that does not have the workspace", async () => {
  const root = await temporaryFolder();
  const file = await knownFile(root, "a", "one");
  await rename(root, `${root}-moved`);
  expect((await checkFiles(root, [file])).changes).toEqual([]);
  await rename(`${root}-moved`, root);
  await rm(join(root, "a"));
  expect((await checkFiles(root, [file])).changes).toMatchObject([{ change: "REMOVED", state: null }]);
});
