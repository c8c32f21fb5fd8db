import { BlockList, isIPv4, isIPv6 } from "node:net";

/** Addresses that are not of the public internet: this machine, private and link-local networks, and special uses (IANA's registries). */
const PRIVATE = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const)
  PRIVATE.addSubnet(network, prefix, "ipv4");
for (const [network, prefix] of [
  ["::", 96],
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["100::", 64],
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["fc00::", 7],
  ["fe80::", 10],
  ["ff00::", 8],
  ["fec0::", 10],
  ["5f00::", 16],
  ["3fff::", 20],
  ["100:0:0:1::", 64],
  ["::ffff:0:0:0", 96],
] as const)
  PRIVATE.addSubnet(network, prefix, "ipv6");

/** Whether an IP address is not of the public internet. IPv4 addresses in IPv6 form count as what they are. */
export function isPrivateAddress(address: string): boolean {
  if (isIPv4(address)) return PRIVATE.check(address, "ipv4");
  return isIPv6(address) && PRIVATE.check(address, "ipv6");
}
