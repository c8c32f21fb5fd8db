import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const SRC = fileURLToPath(new URL("../../src", import.meta.url));

/** The files of our own below `src`, by their paths from there, with the number of their lines. */
async function ownFiles(): Promise<ReadonlyMap<string, number>> {
  const paths = await readdir(SRC, { recursive: true });
  const own = paths.filter(
    (path) => path.endsWith(".ts") && !path.startsWith(join("db", "generated")) && !path.startsWith(join("schema", "generated")),
  );
  const lines = async (path: string) => (await readFile(join(SRC, path), "utf8")).trimEnd().split("\n").length;
  return new Map(await Promise.all(own.map(async (path) => [path, await lines(path)] as const)));
}

describe("the tree of src (CONTRIBUTING: one noun a file, small files)", () => {
  it("has no file at the top of agent but one that says what its rooms are", async () => {
    const top = await readdir(join(SRC, "agent"), { withFileTypes: true });
    expect(top.filter((entry) => entry.isFile()).map(({ name }) => name)).toEqual(["README.md"]);
    const rooms = top.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    const told = await readFile(join(SRC, "agent", "README.md"), "utf8");
    for (const room of rooms) expect(told, room).toContain(`\`${room}\``);
  });

  it("has declarations of modules only beside a file that refers to them: configurations outside of the checkout find no others", async () => {
    const paths = [...(await ownFiles()).keys()];
    const references = await Promise.all(
      paths.map(async (path) => {
        const text = await readFile(join(SRC, path), "utf8");
        return [...text.matchAll(/^\/\/\/ <reference path="(.+)" \/>$/gm)].map(([, to = ""]) => join(dirname(path), to));
      }),
    );
    expect(references.flat()).toEqual(expect.arrayContaining(paths.filter((path) => path.endsWith(".d.ts"))));
  });

  it("has at most 25 files in a folder", async () => {
    const folders = Map.groupBy((await ownFiles()).keys(), dirname);
    for (const [folder, files] of folders) expect(files.length, folder).toBeLessThanOrEqual(25);
  });

  it("has files of 125 lines at most in the middle, of 250 in nine of ten, and of 350 in all", async () => {
    const files = await ownFiles();
    const lines = [...files.values()].toSorted((a, b) => a - b);
    expect(lines[Math.floor(lines.length / 2)]).toBeLessThanOrEqual(125);
    expect(lines[Math.floor(lines.length * 0.9)]).toBeLessThanOrEqual(250);
    for (const [file, count] of files) expect(count, file).toBeLessThanOrEqual(350);
  });

  it("loads what few servers need only when it is needed: the providers' SDKs, that of MCP, and GraphiQL (ADR 22)", async () => {
    for (const path of (await ownFiles()).keys())
      expect(await readFile(join(SRC, path), "utf8"), path).not.toMatch(
        /^(?:import(?! type )[^;]*|export[^;]*) from "(?:openai|@anthropic-ai\/sdk|@modelcontextprotocol\/client|@graphql-yoga\/render-graphiql)/m,
      );
  });
});
