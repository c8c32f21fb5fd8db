import { chmodSync, cpSync, lstatSync, mkdirSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { randomUUID } from "node:crypto";

const NAMES = [
  "alternatives",
  "ca-certificates",
  "ca-certificates.conf",
  "crypto-policies",
  "fonts",
  "gai.conf",
  "gitconfig",
  "group",
  "host.conf",
  "hosts",
  "inputrc",
  "java-8-openjdk",
  "java-11-openjdk",
  "java-17-openjdk",
  "java-21-openjdk",
  "ld.so.cache",
  "ld.so.conf",
  "ld.so.conf.d",
  "locale.alias",
  "locale.conf",
  "localtime",
  "magic",
  "magic.mime",
  "maven",
  "mime.types",
  "networks",
  "nsswitch.conf",
  "os-release",
  "passwd",
  "pki/ca-trust/extracted",
  "pki/tls/cert.pem",
  "pki/tls/certs",
  "profile",
  "bash.bashrc",
  "protocols",
  "python3",
  "resolv.conf",
  "services",
  "shells",
  "ssl/cert.pem",
  "ssl/certs",
  "ssl/openssl.cnf",
  "timezone",
];

/**
 * The part of `/etc` that a box shows. It is a copy in a server's folder: mounting one folder takes a fraction of the
 * time of forty mounts. It is made again when one of the files has changed.
 */
export class SystemNames {
  readonly #folder: string;
  readonly #source: string;
  #copy: { readonly state: string; readonly folder: string } | null = null;

  constructor(folder: string, source = "/etc") {
    this.#folder = folder;
    this.#source = source;
    rmSync(folder, { recursive: true, force: true });
  }

  current(): string {
    const state = NAMES.map((name) => stateOf(join(this.#source, name))).join();
    if (this.#copy?.state === state) return this.#copy.folder;
    const folder = join(this.#folder, randomUUID());
    for (const name of NAMES) copy(join(this.#source, name), join(folder, name));
    this.#copy = { state, folder };
    return folder;
  }
}

function stateOf(path: string): string {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found === undefined ? "" : `${found.ctimeMs}:${found.ino}`;
}

/** A link into the system's programs stays a link; others are replaced by their targets. Unreadable files are left out. */
function copy(from: string, to: string): void {
  const found = lstatSync(from, { throwIfNoEntry: false });
  if (found === undefined) return;
  mkdirSync(dirname(to), { recursive: true });
  try {
    const real = realpathSync(from);
    const isLink = found.isSymbolicLink() && real.startsWith("/usr/");
    cpSync(isLink ? from : real, to, { recursive: true, verbatimSymlinks: true, filter: isReadable });
    makeRemovable(to);
  } catch {
    rmSync(to, { recursive: true, force: true });
  }
}

/** Lets a server that is not root remove its copy: some folders of `/etc` are read-only for all. */
function makeRemovable(path: string): void {
  if (!lstatSync(path).isDirectory()) return;
  chmodSync(path, 0o755);
  for (const name of readdirSync(path)) makeRemovable(join(path, name));
}

/** True for public files; others in these folders, such as private keys, are left out. */
function isReadable(path: string): boolean {
  const found = lstatSync(path);
  return found.isSymbolicLink() || (found.mode & 0o004) !== 0;
}
