import { describe, expect, it } from "vitest";
import { isNearAddress } from "../../src/lib/addresses.ts";

const of = (address: string, cidr: string | null, family: "IPv4" | "IPv6") =>
  ({ address, cidr, family, netmask: "", mac: "", internal: false, ...(family === "IPv6" ? { scopeid: 0 } : {}) }) as never;

const INTERFACES = {
  lan: [of("93.184.216.34", "93.184.216.34/28", "IPv4"), of("2606:2800::7", "2606:2800::7/64", "IPv6")],
  tunnel: [of("8.8.8.8", "8.8.8.8/32", "IPv4"), of("9.9.9.9", null, "IPv4")],
};

describe("an address near this machine", () => {
  it.each([
    ["93.184.216.34", true],
    ["::ffff:93.184.216.34", true],
    ["93.184.216.47", true],
    ["93.184.216.48", false],
    ["8.8.8.8", true],
    ["8.8.8.9", false],
    ["2606:2800::1", true],
    ["2606:2800:0:1::1", false],
    ["example.org", false],
  ])("%s: %s", (address, isNear) => {
    expect(isNearAddress(address, INTERFACES)).toBe(isNear);
  });
});
