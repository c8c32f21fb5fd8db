import { describe, expect, it } from "vitest";
import { presets } from "../../../../src/config/presets.ts";
import { commandJudge, projectFolder } from "../../../support/command-lines.ts";

const NPM_RUN = "shell(command:npm run *)";
const MAKE = "shell(command:make *)";

/** The parts of a line that are asked about, as texts with their reasons. */
async function askedParts(line: string, permission: object, stored: readonly string[]): Promise<string[]> {
  const { verdict, parts = [], reason } = await commandJudge(await projectFolder(), permission, false, stored)(line);
  expect(verdict).toBe("ask");
  const [first] = parts;
  expect(reason).toContain(`characters ${(first?.start ?? -1) + 1} to ${first?.end ?? -1} of command: ${first?.reason ?? ""}`);
  return parts.map((part) => `[${line.slice(part.start, part.end)}] ${part.reason}`);
}

describe("rules that people have stored", () => {
  it.each(["askAll", "readOnly"] as const)(
    "leave out of what is asked about the commands that they take in, as allow rules do: presets.%s",
    async (preset) => {
      for (const line of ["npm run build && rm -rf src", "rm -rf src; npm run build; npm run lint"]) {
        const stored = await askedParts(line, presets[preset], [MAKE, NPM_RUN]);
        expect(stored).toEqual([expect.stringMatching(/^\[rm -rf src\] /)]);
        expect(stored).toEqual(await askedParts(line, { ...presets[preset], allow: [NPM_RUN] }, []));
      }
    },
  );

  it("are not joined: of a line that two of them take in, what the one that takes in the most leaves is asked about", async () => {
    expect(await askedParts("make all && npm run build && npm run lint", presets.askAll, [MAKE, NPM_RUN])).toEqual([
      `[make all] a call runs by one stored rule: ${NPM_RUN} takes in another part, and ${MAKE} this one`,
    ]);
  });

  it("allow a line that one of them takes in", async () => {
    const judge = commandJudge(await projectFolder(), presets.askAll, false, [MAKE, NPM_RUN]);
    expect(await judge("npm run build && npm run lint")).toMatchObject({ verdict: "allow", allowRuleId: "1" });
  });
});
