import { describe, expect, it } from "vitest";
import { WorkspaceUses } from "../../../../src/agent/workspace/sandbox/workspace-uses.ts";

const NOBODY = (): boolean => false;
const NEVER = new AbortController().signal;

/** A workspace in which a program runs that has put something there at which every look throws. */
async function besideProgram() {
  const uses = new WorkspaceUses();
  const other = await uses.enter("/workspace", async () => null, NOBODY, NEVER);
  if (other === null) throw new Error("nobody was there");
  other.settled();
  let isThere = true;
  let looks = 0;
  const look = async (): Promise<string> => {
    looks += 1;
    if (isThere) throw new Error("a link is there");
    return "seen";
  };
  const end = (): void => {
    isThere = false;
    other.leave();
  };
  return { uses, look, end, looks: () => looks };
}

describe("a look at a workspace that throws", () => {
  it("beside another program is made again when that has ended, which may take away what it put there", async () => {
    const { uses, look, end, looks } = await besideProgram();
    const entering = uses.enter("/workspace", look, NOBODY, NEVER);
    await expect.poll(looks).toBe(1);
    end();
    expect(await entering).toMatchObject({ seen: "seen" });
    expect(looks()).toBe(2);
  });

  it("beside another program says why, if that goes on for too long", async () => {
    const { uses, look, looks } = await besideProgram();
    const late = new AbortController();
    const entering = uses.enter("/workspace", look, NOBODY, late.signal);
    await expect.poll(looks).toBe(1);
    late.abort();
    await expect(entering).rejects.toThrow("a link is there");
    expect(looks()).toBe(1);
  });

  it("while nobody else is there says why at once, and lets others enter", async () => {
    const uses = new WorkspaceUses();
    const look = (): Promise<never> => Promise.reject(new Error("a link is there"));
    await expect(uses.enter("/workspace", look, NOBODY, NEVER)).rejects.toThrow("a link is there");
    expect(await uses.enter("/workspace", async () => "seen", NOBODY, NEVER)).toMatchObject({ seen: "seen" });
  });
});
