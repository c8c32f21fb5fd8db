import { describe, expect, it } from "vitest";
import { returnTo } from "../../../src/server/console/return-to.ts";

describe("the page that is opened after sign-in", () => {
  it.for([
    "/console",
    "/console/",
    "/console/inbox/QXBwcm92YWw6MQ%3D%3D",
    "/console/inbox?agent=1&tool=bash#row",
    "/console?next=//evil.example",
    "/console/agents?q=%E4%BD%A0%2F",
  ])("is %s", (wanted) => expect(returnTo(wanted)).toBe(wanted));

  it.for([
    "//evil.example",
    "///evil.example/console",
    "\\\\evil.example",
    "/\\evil.example",
    "/console\\..\\..\\evil",
    "/console/../graphql",
    "/console/./x",
    "/console/%2e%2e/graphql",
    "/console/%2E./graphql",
    "/console/..%2fgraphql",
    "/console/a%5c..",
    "/console//evil.example",
    "/consoleevil",
    "/console@evil.example",
    "/graphql",
    "/",
    "",
    "console",
    "https://evil.example/console",
    "HTTPS:/console",
    "javascript:alert(1)",
    "java\nscript:alert(1)",
    "data:text/html,x",
    "\t//evil.example",
    "/\t/evil.example",
    "/console/\u0000",
    "/console/\u202e",
    "/console/ x",
    `/console/${"x".repeat(2_000)}`,
    null,
    7,
    ["/console"],
    { toString: () => "/console/x" },
  ])("is not %j", (wanted) => expect(returnTo(wanted)).toBe("/console"));
});
