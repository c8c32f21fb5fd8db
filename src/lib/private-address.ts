import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

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
