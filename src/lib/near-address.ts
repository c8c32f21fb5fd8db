import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";

/**
 * True for an address of this machine, or of a network that the machine lies in, also if the network is of the public internet.
 * False for what is no IP address.
 */
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
