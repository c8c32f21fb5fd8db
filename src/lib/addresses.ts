import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";

/** True if the host is a loopback address or name of this machine, in any notation. */
export function isLoopback(host: string): boolean {
  const plain = host.replace(/^\[(.*)\]$/, "$1");
  // Includes IPv4 addresses in IPv6 form.
  if (ipaddr.isValid(plain)) return ipaddr.process(plain).range() === "loopback";
  return plain.toLowerCase().replace(/\.$/, "") === "localhost";
}

/** The URL at which this machine reaches a server that listens on this host and port. */
export function urlOf(host: string, port: number): string {
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
}

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

/** The network that counts as one place: an IPv4 address, or the 64 bits of an IPv6 address within which one host may choose. */
export function networkOf(address: string): string {
  if (isIP(address) === 0) return address;
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6
    ? parsed.parts
        .slice(0, 4)
        .map((part) => part.toString(16))
        .join(":")
    : parsed.toString();
}

const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");

/** Azure's address for services of a single machine, which looks public. */
const PLATFORM = "168.63.129.16";

/**
 * True for an IP address outside of the public internet: this machine, private and link-local networks, special uses
 * (IANA's registries). Also for IPv4 addresses in IPv6 form. False for other texts.
 */
export function isPrivateAddress(text: string): boolean {
  if (isIP(text) === 0) return false;
  const address = ipaddr.process(text);
  if (address.range() !== "unicast" || address.toString() === PLATFORM) return true;
  return address instanceof ipaddr.IPv6 && !address.match(GLOBAL_UNICAST);
}
