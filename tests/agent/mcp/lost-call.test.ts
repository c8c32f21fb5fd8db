import { createServer } from "node:net";
import { once } from "node:events";
import { expect, it } from "vitest";
import { faultText, lostCall, NotSent } from "../../../src/agent/mcp/lost-call.ts";

/** The error of a request to a port where nobody listens, and that port. */
async function refused(): Promise<{ readonly error: unknown; readonly port: number }> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  server.close();
  await once(server, "close");
  const error: unknown = await fetch(`http://127.0.0.1:${port}/mcp`).catch((cause: unknown) => cause);
  return { error, port };
}

const plain = (text: string) => text;

it("a refused connection is said once, without the errors around it", async () => {
  const { error, port } = await refused();
  const said = new Error("Version negotiation probe failed: fetch failed", { cause: error });
  expect(faultText(said)).toBe(`connect ECONNREFUSED 127.0.0.1:${port}`);
  expect(faultText(new Error("odd", { cause: new Error("odder") }))).toBe("odd: odder");
});

it("a call over a refused connection was not sent: its effect is known", async () => {
  const { error, port } = await refused();
  expect(lostCall("own", error, null, plain).message).toBe(`connect ECONNREFUSED 127.0.0.1:${port}`);
});

it("a call over a connection that broke may have had an effect, also if the next connection is refused", async () => {
  const { error } = await refused();
  const broken = new TypeError("fetch failed", { cause: Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" }) });
  const closed = Object.assign(new Error("Connection closed", { cause: error }), { code: "CONNECTION_CLOSED" });
  for (const each of [broken, closed])
    expect(lostCall("own", each, null, plain).message).toContain("it is not known if the call had an effect");
});

function unreached(code: string, syscall?: string): Error {
  return Object.assign(new Error(`${syscall ?? "it"} ${code}`), { code, ...(syscall === undefined ? {} : { syscall }) });
}

it.each([
  ["whose name has no address", unreached("ENOTFOUND", "getaddrinfo")],
  ["whose name cannot be looked up", unreached("EAI_AGAIN", "getaddrinfo")],
  ["without a way to it", unreached("EHOSTUNREACH", "connect")],
  ["that does not accept a connection", unreached("UND_ERR_CONNECT_TIMEOUT")],
  [
    "none of whose addresses is reached",
    Object.assign(new AggregateError([unreached("ENETUNREACH", "connect"), unreached("ECONNREFUSED", "connect")]), {
      code: "ENETUNREACH",
    }),
  ],
])("a call to a server %s was not sent", (_name, cause) => {
  expect(lostCall("own", new TypeError("fetch failed", { cause }), null, plain)).toBeInstanceOf(NotSent);
});

it("a call over a connection whose way is lost may have had an effect", () => {
  const cause = unreached("EHOSTUNREACH", "write");
  expect(lostCall("own", new TypeError("fetch failed", { cause }), null, plain)).not.toBeInstanceOf(NotSent);
});
