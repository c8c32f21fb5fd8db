import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { boundsProblem } from "../../../src/agent/bash/bounds.ts";
import { readCommandLine } from "../../../src/agent/bash/read-command-line.ts";
import { simpleCommands } from "../../../src/agent/bash/simple-commands.ts";
import { commandJudge, projectFolder } from "../../support/command-lines.ts";

/** Ways to write a letter in bash, alone or joined with others. */
const LETTER = [
  (letter: string) => letter,
  (letter: string) => `\\${letter}`,
  (letter: string) => `'${letter}'`,
  (letter: string) => `"${letter}"`,
  (letter: string) => `$'${letter}'`,
  (letter: string) => `$'\\x${letter.charCodeAt(0).toString(16)}'`,
  (letter: string) => `$'\\${letter.charCodeAt(0).toString(8).padStart(3, "0")}'`,
  (letter: string) => `$'\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}'`,
  (letter: string) => `${letter}''`,
  (letter: string) => `""${letter}`,
  (letter: string) => `\\\n${letter}`,
];
const quoted = (text: string): fc.Arbitrary<string> =>
  fc
    .tuple(...Array.from(text, (letter) => fc.constantFrom(...LETTER).map((write) => write(letter))))
    .map((parts) => parts.join(""));

describe("quoting", () => {
  it("hides no command from a deny rule (property)", async () => {
    const judge = commandJudge(await projectFolder(), {
      mode: "auto",
      deny: ["shell(command:rm *)", "shell(command:git push *)"],
    });
    const separator = fc.constantFrom(" ", "\t", "  ", " \\\n ");
    const line = fc.oneof(
      fc.tuple(quoted("rm"), separator, quoted("-rf"), separator, quoted("src")).map((parts) => parts.join("")),
      fc.tuple(quoted("git"), separator, quoted("push"), separator, quoted("origin")).map((parts) => parts.join("")),
      fc.tuple(fc.constantFrom("/bin/", "./", '"/usr/bin"/'), quoted("rm")).map((parts) => parts.join("")),
    );
    const around = fc.constantFrom("X", "ls; X", "sudo X", "(X)", "echo $(X)", "A=1 X", "X > /dev/null", "timeout 5 X", "{ X; }");
    await fc.assert(
      fc.asyncProperty(line, around, async (command, place) => {
        expect((await judge(place.replace("X", () => command))).verdict).toBe("deny");
      }),
      { numRuns: 500 },
    );
  });

  it("is taken away as bash takes it away (property, against bash itself)", () => {
    const piece = fc.oneof(
      fc.string({ unit: fc.constantFrom(...Array.from("abmr-/.=:,@%+ \t'\"\\")), maxLength: 8 }),
      quoted("rm"),
      fc.constantFrom(
        "$'a\\'b'",
        "$'\\t'",
        "'a b'",
        '"a\\b"',
        '"a\\"b"',
        "\\ ",
        "$'a\\x41b'",
        "$'\\101'",
        "a\\\nb",
        '"a\\\nb"',
        "'#'",
        "#",
        "$'\\e'",
        "$'x\\0y'z",
      ),
    );
    const samples = fc.sample(fc.array(piece, { minLength: 1, maxLength: 5 }), 2_000).map((parts) => parts.join(""));
    const wordsOf = (text: string): readonly string[] | null => {
      if (boundsProblem(text) !== null) return null;
      const { commands, trouble } = simpleCommands(`show ${text}`);
      const [command] = commands;
      if (trouble !== null || commands.length !== 1 || command === undefined || command.redirects.length > 0) return null;
      return command.words.some(({ open }) => open !== null) ? null : command.words.slice(1).map((word) => word.text);
    };
    const read = samples.flatMap((text) => {
      const words = wordsOf(text);
      return words === null ? [] : [{ text, words }];
    });
    const script = `show() { printf '%s\\1' "$@"; printf '\\2'; }; for text in "$@"; do eval "show $text"; done`;
    const answer = execFileSync("bash", ["--noprofile", "--norc", "-c", script, "bash", ...read.map(({ text }) => text)], {
      encoding: "utf8",
      maxBuffer: 64 * 1024 * 1024,
    });
    const said = answer.split("\u0002").slice(0, -1);
    expect(read.length).toBeGreaterThan(500);
    expect(said.length).toBe(read.length);
    for (const [index, { text, words }] of read.entries()) {
      const expected = words.length === 0 ? "\u0001" : words.map((word) => `${word}\u0001`).join("");
      expect(said[index], JSON.stringify(text)).toBe(expected);
    }
  });

  it("and anything else is read without an error, whatever it is (property)", async () => {
    const workspace = await projectFolder();
    const token = fc.constantFrom(
      ..."ls|rm|git|sudo|sh|-c|xargs|find|-exec|;|&&|\\|\\||\\||&|>|<|<<|<<<|>(|<(|$(|)|(|{|}|`|'|\"|$'|${x|}|\\|#|=|a=|*|?|[|]|~|!|if|then|fi|for|in|do|done|case|esac|[[|]]|((|))|EOF|\n| |-x|--|/|..|.env|é|\u0000|\ud800".split(
        /(?<!\\)\|/,
      ),
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(token, { maxLength: 40 }).map((tokens) => tokens.join(" ")),
          fc.array(token, { maxLength: 40 }).map((tokens) => tokens.join("")),
          fc.string({ maxLength: 200 }),
        ),
        (line) => {
          const read = readCommandLine(line, { workspace, folder: ".", environment: [] });
          for (const { start, end } of read.commands) expect(start >= 0 && end >= start && end <= line.length).toBe(true);
        },
      ),
      { numRuns: 5_000 },
    );
  });
});
