import { delimiter, dirname } from "node:path";

const OF_NPM = /[\\/](node_modules[\\/]\.bin|node-gyp-bin)$/;

/**
 * PATH for programs: that of the server's start. Folders that npm puts first for its scripts are left out: they have the
 * server's programs. The server's own Node is the last, for a machine without another, and for sandboxes that hide it.
 */
export function programPath(): string {
  const folders = (process.env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(delimiter);
  return [...folders.filter((folder) => !OF_NPM.test(folder)), dirname(process.execPath)].join(delimiter);
}
