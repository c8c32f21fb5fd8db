import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { blocksOf, inlinesOf, namesItsHost } from "../../console/src/design/markdown.ts";

const text = (words: string) => ({ kind: "text", text: words });

describe("Markdown of models", () => {
  it("is headings, lists, code, quotes and tables", () => {
    const blocks = blocksOf(
      "# One\n\nTwo\nlines\n\n```ts\nconst a = 1;\n```\n- a\n- b\n  1. c\n\n> said\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n---",
    );
    expect(blocks.map(({ kind }) => kind)).toEqual(["heading", "paragraph", "code", "list", "quote", "table", "rule"]);
    expect(blocks[3]).toMatchObject({
      items: [[{ kind: "paragraph" }], [{ kind: "paragraph" }, { kind: "list", isOrdered: true }]],
    });
    expect(blocks[2]).toEqual({ kind: "code", language: "ts", text: "const a = 1;" });
  });

  it("has headings without their end marks", () => {
    const words = (line: string) => blocksOf(line).map((block) => (block.kind === "heading" ? block.parts : null));
    expect([words("## a ##"), words("# C#"), words("#   b  ")]).toEqual([[[text("a")]], [[text("C#")]], [[text("b")]]]);
  });

  it("shows HTML as text", () => {
    expect(blocksOf("<img src=x onerror=alert(1)><b>b</b>")).toEqual([
      { kind: "paragraph", parts: [text("<img src=x onerror=alert(1)><b>b</b>")] },
    ]);
  });

  it("makes links of web addresses only, and says where they lead", () => {
    expect(inlinesOf("[bank](https://evil.example/a?b)")).toEqual([
      { kind: "link", text: "bank", url: "https://evil.example/a?b", host: "evil.example" },
    ]);
    for (const address of ["javascript:alert`1`", "data:text/html,x", "JaVaScRiPt:alert", "file:///etc/passwd", "//evil.example"])
      expect(inlinesOf(`[x](${address})`), address).toEqual([text(`[x](${address})`)]);
  });

  it("names the host of a link, unless its text is the address itself", () => {
    const shown = (text: string): readonly unknown[] =>
      inlinesOf(text).map((part) => (part.kind === "link" ? [part.host, namesItsHost(part)] : part));
    for (const link of [
      "https://evil.example/a",
      "[evil.example](https://evil.example/a)",
      "[https://evil.example/a](https://evil.example/a)",
      "[me@evil.example](mailto:me@evil.example)",
    ])
      expect(shown(link), link).toEqual([[expect.stringMatching(/evil\.example$/), true]]);
    for (const link of [
      "https://bank.example@evil.example/login",
      "[https://bank.example/?x=evil.example](https://evil.example/a)",
      "[evil.example is bank.example](https://evil.example)",
      "[bank.example.evil.example](https://evil.example)",
      "[evil.example](https://bank.example@evil.example)",
      "[https://evil.example/b](https://evil.example/a)",
      "https://еvil.example/",
    ])
      expect(shown(link), link).toEqual([[expect.any(String), false]]);
  });

  it("makes a link of an image: nothing is loaded", () => {
    expect(inlinesOf("![plan](https://evil.example/p.png)")).toEqual([
      { kind: "link", text: "plan", url: "https://evil.example/p.png", host: "evil.example" },
    ]);
  });

  it("reads a block of code that is not closed yet to the end", () => {
    expect(blocksOf("a\n```\nb\nc")).toEqual([
      { kind: "paragraph", parts: [text("a")] },
      { kind: "code", language: "", text: "b\nc" },
    ]);
  });

  it("keeps every letter of any text, and ends", () => {
    const letters = (value: unknown): string =>
      typeof value === "string"
        ? value
        : Array.isArray(value)
          ? value.map(letters).join("")
          : typeof value === "object" && value !== null
            ? Object.entries(value)
                .filter(([key]) => key !== "kind")
                .map(([, each]) => letters(each))
                .join("")
            : "";
    fc.assert(
      fc.property(fc.array(fc.constantFrom("a", "b", " ", "\n", "*", "`", "#", ">", "-", "|", "_", "  ", "1. ")), (parts) => {
        const given = parts.join("");
        const shown = letters(blocksOf(given));
        for (const letter of ["a", "b"]) {
          const count = (where: string): number => where.split(letter).length - 1;
          if (!given.includes("```")) expect(count(shown), JSON.stringify(given)).toBe(count(given));
        }
      }),
    );
  });

  it("reads a long text in time", () => {
    const began = performance.now();
    for (const open of ["**a ", "_a ", "`a ``b ", "[a](", "[", "~~a", "|a|\n|-|\n", "- a\n  - b\n"])
      blocksOf(open.repeat(20_000));
    for (const begin of ["# a", "# ", "a|\n", "- ", "```", "> "]) blocksOf(`${begin}${" ".repeat(20_000)}b`);
    for (const block of ["```\na\n```\n", "> a\n\n", "# a #\n"]) blocksOf(block.repeat(199_000 / block.length));
    blocksOf(`${">".repeat(10_000)} a`);
    expect(performance.now() - began).toBeLessThan(10_000);
  });
});
