import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** The part of IPv6 that is given to the public internet (RFC 4291). */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");

/** The address at which Azure gives each of its machines what is only for that machine. By its looks it is public. */
const PLATFORM = "168.63.129.16";

/**
 * Whether an IP address is not of the public internet: this machine, private and link-local networks, special uses (IANA's
 * registries). IPv4 addresses in IPv6 form count as what they are. False for what is no IP address.
 */
export function isPrivateAddress(text: string): boolean {
  if (isIP(text) === 0) return false;
  const address = ipaddr.process(text);
  if (address.range() !== "unicast" || address.toString() === PLATFORM) return true;
  return address instanceof ipaddr.IPv6 && !address.match(GLOBAL_UNICAST);
}
