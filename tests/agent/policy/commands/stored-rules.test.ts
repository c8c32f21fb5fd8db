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

  it("allow a line together, each of them some of its commands", async () => {
    const judge = commandJudge(await projectFolder(), presets.askAll, false, [MAKE, NPM_RUN]);
    const { verdict, allowRuleId, reason, considered } = await judge("make all && npm run build && npm run lint");
    expect({ verdict, allowRuleId }).toEqual({ verdict: "allow", allowRuleId: "0" });
    expect(reason).toBe(
      `a person always allows ${MAKE}: characters 1 to 8 of command by ${MAKE}; characters 13 to 25 of command by ${NPM_RUN}; characters 30 to 41 of command by ${NPM_RUN}`,
    );
    expect(considered.filter((each) => each.verdict === "allow").map(({ rule }) => rule)).toEqual([
      `allow ${NPM_RUN}`,
      `always allow ${MAKE}`,
    ]);
  });

  it("allow a line that one of them takes in", async () => {
    const judge = commandJudge(await projectFolder(), presets.askAll, false, [MAKE, NPM_RUN]);
    expect(await judge("npm run build && npm run lint")).toMatchObject({ verdict: "allow", allowRuleId: "1" });
  });
});
