/** True if a program may reach a host at a port now. Hosts are names in lower case, or addresses. One that fails refuses. */
export type HostDecision = (host: string, port: number) => boolean | Promise<boolean>;

/** A host with its port; a port of null stands for those of http and https. */
type ListedHost = { readonly isMatch: (host: string) => boolean; readonly port: number | null };

/** The ports that a host without one stands for. */
const WEB_PORTS: ReadonlySet<number> = new Set([80, 443]);

const LISTED = /^(\*\.)?([a-z0-9_-]+(?:\.[a-z0-9_-]+)*)(?::(\d{1,5}))?$/;

/** The problem with a host as it is written in a list; null if there is none. */
export function hostProblem(written: string): string | null {
  const [, , , port] = LISTED.exec(written.toLowerCase()) ?? [];
  if (!LISTED.test(written.toLowerCase()))
    return "must be a name such as packages.example.com, *.example.org for all names below one, or one with a port, as example.org:8080";
  return port === undefined || (Number(port) >= 1 && Number(port) <= 65_535) ? null : "has no such port: ports are 1 to 65535";
}

/**
 * A list of hosts: `example.org` is that name at the ports 80 and 443, `example.org:8080` at that port, and
 * `*.example.org` every name below it, but not itself.
 */
export function hostList(hosts: readonly string[]): (host: string, port: number) => boolean {
  const listed = hosts.map((host) => listedHost(host.toLowerCase()));
  return (host, port) =>
    listed.some((each) => each.isMatch(host) && (each.port === null ? WEB_PORTS.has(port) : each.port === port));
}

function listedHost(written: string): ListedHost {
  const [, wildcard, name = "", port] = LISTED.exec(written) ?? [];
  return {
    isMatch: wildcard === undefined ? (host) => host === name : (host) => host.endsWith(`.${name}`),
    port: port === undefined ? null : Number(port),
  };
}
