import { describe, expect, it } from "vitest";
import { sealCall } from "../../../src/agent/calls/call.ts";
import { callView } from "../../support/call-view.ts";

const CALL = callView({
  state: "EXECUTING",
  ruleValues: {
    edits: [{ kind: "text", text: "{}" }],
    "edits[].path": [
      { kind: "file", names: ["link.txt", "a.txt"], access: "write" },
      { kind: "file", names: ["b.txt"], access: "write" },
      { kind: "file", names: ["b.txt"], access: "write" },
    ],
    seen: [{ kind: "file", names: ["c.txt"], access: "read" }],
  },
});

describe("a call whose server died (invariant 5)", () => {
  it("names the files that it may have written, to the model and in its details", () => {
    const { call, transition } = sealCall(CALL, { note: "the server stopped" }, new Date(0));
    expect(transition.set.details).toMatchObject({ ok: false, data: { status: "EXECUTING", files: ["a.txt", "b.txt"] } });
    expect(JSON.parse(call.output ?? "")).toEqual(transition.set.details);
  });

  it("names none if it had not begun", () => {
    const { transition } = sealCall({ ...CALL, state: "PENDING" }, { note: "interrupted" }, new Date(0));
    expect(transition.set.details).toMatchObject({ data: { status: "PENDING" } });
    expect(JSON.stringify(transition.set.details)).not.toContain("a.txt");
  });
});
