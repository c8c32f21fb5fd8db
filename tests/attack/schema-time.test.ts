import { describe, expect, it } from "vitest";
import { schemaCheck, schemaProblem } from "../../src/agent/mcp/schema-check.ts";
import type { JsonObject } from "../../src/lib/json.ts";

const alternatives = (levels: number): JsonObject =>
  levels === 0 ? { type: "string" } : { anyOf: [alternatives(levels - 1), alternatives(levels - 1)] };

describe("a schema of a hostile server", () => {
  it("does not hold up the server when its tool is called", () => {
    const schema = { type: "object", properties: { x: alternatives(13) } };
    expect(schemaProblem(schema)).toBeNull();
    const began = performance.now();
    schemaCheck(schema)({ x: 3 });
    expect(performance.now() - began).toBeLessThan(1_000);
  });
});
