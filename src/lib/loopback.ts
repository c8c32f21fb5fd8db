import ipaddr from "ipaddr.js";

/** True if the host is a loopback address or name of this machine, in any notation. */
export function isLoopback(host: string): boolean {
  const plain = host.replace(/^\[(.*)\]$/, "$1");
  // Includes IPv4 addresses in IPv6 form.
  if (ipaddr.isValid(plain)) return ipaddr.process(plain).range() === "loopback";
  return plain.toLowerCase().replace(/\.$/, "") === "localhost";
}
