import { describe, expect, it } from "vitest";
import { ignoredParameters } from "../../console/src/calls/rule-parameters.ts";

describe("the parameters that a rule does not look at", () => {
  const input = { command: "make build", host: "prod.example", as: "root" };

  it.for([
    ["remote(command:make build)", ["host", "as"]],
    ["remote(command:make build, host:prod.example)", ["as"]],
    ["remote(command:make build,host:*,as:root)", []],
    // Words of a pattern are no parameters.
    ['remote(command:"make, host:prod, as:root")', ["host", "as"]],
    ['remote(command:"a \\" host:b", as:root)', ["host"]],
    ["remote(command:{make,host:b})", ["host", "as"]],
    // A rule without parameters has a warning of its own.
    ["remote", []],
  ] as const)("of %s are %j", ([rule, ignored]) => {
    expect(ignoredParameters(rule, input)).toEqual(ignored);
  });

  it("are none of an input that is not there", () => {
    expect(ignoredParameters("example.org:443", null)).toEqual([]);
  });
});
