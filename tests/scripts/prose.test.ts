import { expect, it } from "vitest";
import { above, countsOf, lowered, proseProblems, sentencesOf } from "../../scripts/prose-forms.ts";

it("finds the folded forms of prose, and none in code", () => {
  const counts = countsOf(
    sentencesOf(`# What a turn is
What is removed goes on, of which nobody knows. It runs \`nothing at once\`; see [what](what.md) for it.

- ${"word ".repeat(26)}
- ${"word ".repeat(25)}

| ${"cell ".repeat(20)} | ${"cell ".repeat(20)} |

\`\`\`sh
nobody # goes on besides
\`\`\`
What next?`),
  );
  expect(counts).toEqual({
    "sentence of more than 25 words": 1,
    "What, Who or Whose at the start": 1,
    what: 3,
    "of which, of whom": 1,
    "go on": 1,
    nobody: 1,
    nothing: 0,
    "beside, besides": 0,
    "at once": 0,
    "of before": 0,
  });
});

it("refuses a count above its ceiling, and lowers ceilings only", () => {
  expect(above("guides", { nobody: 2, nothing: 1, what: 1 }, { nobody: 1, nothing: 3 })).toEqual([
    '"nobody" stands 2 times in guides, and at most 1 times is allowed',
    '"what" stands 1 times in guides, and at most 0 times is allowed',
  ]);
  expect(lowered({ nobody: 2, nothing: 1, what: 4 }, { nobody: 1, nothing: 3 })).toEqual({ nobody: 1, nothing: 1, what: 4 });
});

it("the prose of the project is below its ceilings", async () => {
  expect(await proseProblems()).toEqual([]);
});
