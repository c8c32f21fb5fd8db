import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { startable, type ScheduledCall } from "../../../src/agent/loop/next-action.ts";

const STATUS = { p: "waiting", h: "held", r: "ready", x: "running", f: "final" } as const;

/** Slots from a short form: lower case is a read, upper case is exclusive; p, h, r, x, f is the status. */
function calls(form: string): ScheduledCall[] {
  return form.split("").map((letter, index) => ({
    id: String(index),
    isExclusive: letter !== letter.toLowerCase(),
    status: STATUS[letter.toLowerCase() as keyof typeof STATUS],
  }));
}

describe("startable", () => {
  it.each([
    ["rrrr", ["0", "1", "2"], "reads run together, three at once"],
    ["xrrr", ["1", "2"], "running reads count"],
    ["fffr", ["3"], "final ones do not"],
    ["Rrr", ["0"], "an exclusive call runs alone"],
    ["rR", ["0"], "and waits for earlier reads"],
    ["xR", [], "while they run"],
    ["fR", ["1"], "until they are final"],
    ["Xr", [], "nothing passes it while it runs"],
    ["rRr", ["0"], "nor while it waits"],
    ["Prr", ["1", "2"], "one that waits for a person is passed by reads"],
    ["prR", ["1"], "but holds later exclusive calls"],
    ["PR", [], "also when nothing else can run"],
    ["PfR", [], "also behind final ones"],
    ["pRr", [], "and a held exclusive call is not passed"],
    ["XHr", [], "one that is held behind another does not pass it"],
    ["PHr", ["2"], "is passed by reads"],
    ["PHR", [], "and holds later exclusive calls"],
  ])("%s starts %j: %s", (form, expected) => {
    expect(startable(calls(form), 3)).toEqual(expected);
  });

  it("always makes progress: with nothing running, something starts, or everything waits for a person or behind it", () => {
    const letters = fc.constantFrom("p", "P", "r", "R", "f", "F");
    fc.assert(
      fc.property(fc.array(letters, { maxLength: 12 }), (form) => {
        const started = startable(calls(form.join("")), 3);
        const open = form.filter((letter) => letter.toLowerCase() !== "f");
        const isHeld = open.some((letter) => letter.toLowerCase() === "p");
        return started.length > 0 || isHeld || open.length === 0;
      }),
    );
  });
});
