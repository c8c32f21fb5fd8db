import { expect, it } from "vitest";

it("every function whose time trial:scale counts as looking for agents is there", async () => {
  const { SWEEPS } = await import("../../../trials/scale/sweeps.ts");
  expect(SWEEPS.map(({ url }) => url)).toContainEqual(expect.stringContaining("/runner.ts"));
});
