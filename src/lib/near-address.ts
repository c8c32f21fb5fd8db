import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";

/** True for an address of this machine, or of one of its networks, public ones too. False for other texts. */
export function isNearAddress(text: string, interfaces = networkInterfaces()): boolean {
  if (isIP(text) === 0) return false;
  const address = ipaddr.process(text);
  return Object.values(interfaces)
    .flatMap((addresses) => addresses?.flatMap(({ cidr }) => cidr ?? []) ?? [])
    .some((cidr) => {
      const [network, bits] = ipaddr.parseCIDR(cidr);
      return network.kind() === address.kind() && address.match(network, bits);
    });
}
