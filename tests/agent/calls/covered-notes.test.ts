import { expect, it } from "vitest";
import { coveredNotes } from "../../../src/agent/calls/programs/programs.ts";

const notes = (command: string, covered: readonly string[], folder = "/w") =>
  coveredNotes({
    argv: ["bash", "-c", command],
    workspace: "/w",
    folder,
    covered: covered.map((path) => `/w/${path}`),
  });
const note = (path: string): string => `${path} is covered in the box: programs see it empty`;

it("covered files that a command line names are named, however the line writes them, each once", () => {
  for (const line of [
    "cat .env",
    "cat './.env'",
    "wc -l <.env",
    "node --env-file=.env x.mjs; cat .env",
    "cat /w/.env",
    "x a/../.env",
  ])
    expect(notes(line, [".env", "sub/.env"]), line).toEqual([note(".env")]);
  expect(notes("cat .env ../.env", [".env", "sub/.env"], "/w/sub")).toEqual([note("sub/.env"), note(".env")]);
  expect(notes("cd sub && cat .env", [".env", "sub/.env"])).toEqual([note("sub/.env")]);
  expect(notes("cat secrets/a/b.txt", ["secrets"])).toEqual([note("secrets")]);
});

it("a command line that names none of them has no note", () => {
  expect(notes("cat .envrc x.env src/.env; ls .", [".env"])).toEqual([]);
  expect(notes("cat ../.env", [".env"])).toEqual([]);
});

it("of many files that are named, a few are, with how many there are", () => {
  const many = Array.from({ length: 12 }, (_, index) => `${index}.key`);
  const found = notes(`cat ${many.join(" ")}`, many);
  expect(found).toHaveLength(6);
  expect(found.at(-1)).toBe("7 more files that the command names are covered in the box");
  expect(notes(`${"x ".repeat(100_000)}.env`, [".env"])).toEqual([]);
});
