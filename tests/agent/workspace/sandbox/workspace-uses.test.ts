import { describe, expect, it } from "vitest";
import { WorkspaceUses } from "../../../../src/agent/workspace/sandbox/workspace-uses.ts";

const NOBODY = (): boolean => false;
const NEVER = new AbortController().signal;

describe("a look at a workspace that throws", () => {
  it.for(["alone", "beside another program"])("%s says why at once, and lets others enter", async (where) => {
    const uses = new WorkspaceUses();
    if (where !== "alone") (await uses.enter("/workspace", async () => null, NOBODY, NEVER))?.settled();
    const look = (): Promise<never> => Promise.reject(new Error("a link is there"));
    await expect(uses.enter("/workspace", look, NOBODY, NEVER)).rejects.toThrow("a link is there");
    expect(await uses.enter("/workspace", async () => "seen", NOBODY, NEVER)).toMatchObject({ seen: "seen" });
  });
});
