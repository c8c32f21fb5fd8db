import type { IncomingMessage } from "node:http";
import { describe, expect, it } from "vitest";
import { isLoopback } from "../../src/lib/addresses.ts";
import { type Access, originProblem } from "../../src/server/access.ts";

const LOCAL = { authentication: { kind: "local" }, allowedOrigins: [] } as unknown as Access;
const OPEN = {
  authentication: { kind: "tokens", actors: [] },
  allowedOrigins: ["https://Console.Example.org", "http://tools.example.org:80"],
} as unknown as Access;

const problem = (access: Access, headers: Readonly<Record<string, string>>, url = "/graphql"): number | null =>
  originProblem({ headers, url } as unknown as IncomingMessage, access)?.status ?? null;

describe("origins and hosts are compared by what they mean", () => {
  it.for([
    [{ host: "tri.example", origin: "https://tri.example" }, null],
    [{ host: "tri.example:443", origin: "https://tri.example" }, null],
    [{ host: "TRI.example", origin: "https://tri.EXAMPLE:443" }, null],
    [{ host: "tri.example:8443", origin: "https://tri.example" }, 403],
    [{ host: "tri.example", origin: "ftp://tri.example" }, 403],
    [{ host: "tri.example", origin: "null" }, 403],
    [{ host: "tri.example", origin: "http://tri.example", "x-forwarded-proto": "https" }, 403],
    [{ host: "tri.example", origin: "https://tri.example", "x-forwarded-proto": "HTTPS, http" }, null],
    [{ host: "tri.example", origin: "https://tri.example.evil.org" }, 403],
    [{ host: "tri.example", origin: "https://console.example.org" }, null],
    [{ host: "tri.example", origin: "https://console.example.org:443" }, null],
    [{ host: "tri.example", origin: "http://console.example.org" }, 403],
    [{ host: "tri.example", origin: "http://tools.example.org" }, null],
    [{ host: "tri.example", origin: "" }, 403],
    [{ host: "tri.example", referer: "https://tri.example/graphql" }, null],
    [{ host: "tri.example", referer: "https://other.example/x" }, 403],
    [{ host: "" }, null],
  ] as const)("%o: %s", ([headers, expected]) => {
    expect(problem(OPEN, headers, "referer" in headers ? "/graphql?query={a}" : "/graphql")).toBe(expected);
  });

  it.for([
    ["127.0.0.1:4000", null],
    ["LOCALHOST:4000", null],
    ["localhost.:4000", null],
    ["[::1]:4000", null],
    ["[0:0:0:0:0:0:0:1]", null],
    ["[::ffff:127.0.0.1]", null],
    ["127.1", null],
    ["10.0.0.1", 403],
    ["localhost.example.org", 403],
    ["127.0.0.1.example.org", 403],
  ] as const)("a server without actors answers %s: %s", ([host, expected]) => {
    expect(problem(LOCAL, { host })).toBe(expected);
  });

  it("takes each spelling of an address of this machine for one", () => {
    for (const host of ["127.0.0.1", "127.9.9.9", "::1", "[::1]", "::ffff:127.0.0.1", "::ffff:7f00:1", "Localhost", "localhost."])
      expect(isLoopback(host), host).toBe(true);
    for (const host of ["", "0.0.0.0", "::", "128.0.0.1", "::2", "localhost.example", "::ffff:10.0.0.1"])
      expect(isLoopback(host), host).toBe(false);
  });
});
