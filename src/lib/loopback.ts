import ipaddr from "ipaddr.js";

/** True if the host is an address or name of this machine that no other machine reaches, however it is written. */
export function isLoopback(host: string): boolean {
  const plain = host.replace(/^\[(.*)\]$/, "$1");
  // An IPv4 address within an IPv6 one is the same.
  if (ipaddr.isValid(plain)) return ipaddr.process(plain).range() === "loopback";
  return plain.toLowerCase().replace(/\.$/, "") === "localhost";
}
