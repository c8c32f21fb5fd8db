import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { manualNews, type PresentTools } from "../../../src/agent/loop/commits/manual.ts";
import { changedSections, type ManualView } from "../../../src/agent/tools/manual/manual-changes.ts";
import { definitionDigest, sectionsOf } from "../../../src/agent/tools/manual/manual.ts";
import type { Tool } from "../../../src/agent/tools/tool.ts";
import { newAgentView } from "../../support/agent-view.ts";
import { toolWithPrompt } from "../../support/tools.ts";

const AT = new Date(0);

function toolsWith(prompts: Readonly<Record<string, string>>): readonly Tool[] {
  return Object.entries(prompts).map(([tool, text]) => toolWithPrompt(tool, text));
}

/** Takes a step on each of these servers in turn, and says which tools each one told. */
function steps(
  servers: readonly (readonly Tool[])[],
  mayComeLater: (step: number) => boolean = () => false,
): { told: (readonly string[])[]; manual: ManualView | null } {
  let view = newAgentView();
  const told = servers.map((tools, step) => {
    const present: PresentTools = { tools, mayComeLater: mayComeLater(step) };
    const news = manualNews(view, present, view.transcriptLength, AT);
    view = { ...news.after(view), stepCount: view.stepCount + 1 };
    expect(news.events).toEqual(
      news.notices.length === 0 ? [] : [{ kind: "TOOL_MANUAL_UPDATED", tools: news.notices.map(({ ref }) => ref) }],
    );
    return news.notices.map(({ ref }) => ref);
  });
  return { told, manual: view.manual };
}

describe("the sections that a step tells", () => {
  it("are those that came, changed or went since the manual, each once", () => {
    const before = toolsWith({ goes: "1", changes: "1", stays: "1" });
    const after = toolsWith({ changes: "2", comes: "1", stays: "1" });
    expect(steps([before, before, after, after, after]).told).toEqual([[], [], ["changes", "comes", "goes"], [], []]);
  });

  it("are told in a text with the tool's section, or that it is not there any more", () => {
    const manual: ManualView = { digest: "d", sections: { goes: "x" }, fixesTools: false, told: [] };
    expect(changedSections(manual, sectionsOf(toolsWith({ comes: "How to." })), 2).map(({ text }) => text)).toEqual([
      "#### comes\n\nHow to.",
      "#### goes\n\nThis tool, or its section, is not there any more.",
    ]);
  });

  it("are all told in the end where they are too many for one step, the first by name first", () => {
    const many = toolsWith(Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`t${index}`, "x".repeat(8_000)])));
    const { told } = steps([[], many, many, many, many]);
    expect(told.flat()).toEqual(many.map(({ name }) => name));
    expect(told.map(({ length }) => length)).toEqual([0, 4, 4, 2, 0]);
  });

  it("are 2,000 of an agent at most: a last note says that no more follow", () => {
    const servers = Array.from({ length: 60 }, (_, step) =>
      toolsWith(Object.fromEntries(Array.from({ length: step === 0 ? 0 : 50 }, (_each, nth) => [`s${step}t${nth}`, "How."]))),
    );
    const { told, manual } = steps(servers, () => true);
    expect(told.flat()).toHaveLength(2_000);
    expect(told.flat().filter((tool) => tool === "*")).toHaveLength(1);
    expect(told.flat().at(-1)).toBe("*");
    expect(manual?.told).toHaveLength(2_000);
  });

  it("are told less and less by two servers that take turns, and those of the last server are known in the end", () => {
    const [one, other] = [toolsWith({ a: "1", b: "1" }), toolsWith({ a: "2" })];
    const turns = fc.array(fc.boolean(), { minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(turns, fc.boolean(), (taken, last) => {
        const present = (isOne: boolean) => (isOne ? one : other);
        const run = [...taken, ...Array.from({ length: 600 }, () => last)].map(present);
        const { told, manual } = steps(run);
        expect(told.slice(0, taken.length).filter((names) => names.includes("a")).length).toBeLessThanOrEqual(
          2 + Math.log2(taken.length + 1),
        );
        for (const tool of ["a", "b"]) {
          const newest = manual?.told.findLast((each) => each.tool === tool);
          const known = newest === undefined ? (manual?.sections[tool] ?? null) : newest.digest;
          expect(known).toBe(sectionsOf(present(last)).find((section) => section.tool === tool)?.digest ?? null);
        }
      }),
    );
  });

  it("are new ones at once, however often others were told", () => {
    const texts = Array.from({ length: 40 }, (_, index) => toolsWith({ a: String(index) }));
    expect(steps(texts).told.slice(1)).toEqual(texts.slice(1).map(() => ["a"]));
  });
});

describe("the definitions that a step tells an agent whose list of tools is fixed", () => {
  const always = () => true;

  it("are those that came or changed, and not those that went, nor those that come again", () => {
    const before = toolsWith({ goes: "1", changes: "1", stays: "1" });
    const after = toolsWith({ changes: "2", comes: "1", stays: "1" });
    expect(steps([before, after, before, after, before], always).told).toEqual([[], ["changes", "comes"], [], [], []]);
  });

  it("stay fixed on a server whose agents cannot be given tools later", () => {
    const [one, other] = [toolsWith({ a: "1" }), toolsWith({ b: "1" })];
    expect(steps([one, other, other, one], (step) => step === 0).told).toEqual([[], ["b"], [], []]);
  });

  it("are told once each, whichever servers take turns, and those of the last server are known in the end", () => {
    const servers = [toolsWith({ a: "1", b: "1" }), toolsWith({ a: "2", c: "1" }), toolsWith({ a: "3" }), []];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...servers), { minLength: 1, maxLength: 60 }), fc.nat(), (taken, last) => {
        const present = servers[last % servers.length] ?? [];
        const run = [...taken, ...Array.from({ length: 20 }, () => present)];
        const { manual } = steps(run, always);
        const told = manual?.told.map(({ tool, digest }) => `${tool} ${digest}`) ?? [];
        expect(new Set(told).size).toBe(told.length);
        for (const tool of present) {
          const digest = definitionDigest(tool);
          expect(manual?.sections[tool.name] === digest || told.includes(`${tool.name} ${digest}`)).toBe(true);
        }
      }),
    );
  });

  it("are told ever more rarely if they are other ones each time", () => {
    const texts = Array.from({ length: 70 }, (_, index) => toolsWith({ a: String(index) }));
    const { told } = steps(texts, always);
    expect(told.flatMap((names, index) => names.map(() => index + 1))).toEqual([2, 3, 5, 9, 17, 33, 65]);
  });
});

describe("sections and definitions whose messages a compaction leaves out", () => {
  it.for([true, false])("are told again once, those in the manual are not (fixed list: %s)", (mayComeLater) => {
    const present = (tools: readonly Tool[]): PresentTools => ({ tools, mayComeLater });
    const [before, after] = [toolsWith({ stays: "1" }), toolsWith({ stays: "1", comes: "1" })];
    let view = newAgentView();
    const step = (tools: readonly Tool[]) => {
      const news = manualNews(view, present(tools), view.transcriptLength, AT);
      view = { ...news.after(view), stepCount: view.stepCount + 1, transcriptLength: view.transcriptLength + 2 };
      return news.notices.map(({ ref }) => ref);
    };
    expect([step(before), step(after), step(after)]).toEqual([[], ["comes"], []]);
    const head = { id: "c", to: 4, step: view.stepCount + 1, isErased: false };
    view = { ...view, compaction: { head, clearedTo: -1, step: head.step, open: null } };
    expect([step(after), step(after), step(after)]).toEqual([["comes"], [], []]);
  });
});
