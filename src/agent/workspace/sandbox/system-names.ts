import { chmodSync, cpSync, lstatSync, mkdirSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { randomUUID } from "node:crypto";

/** The files and folders of `/etc` that programs need: names, certificates, the time zone, alternatives. None of them is secret. */
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
 * The part of `/etc` that programs of a box see. It is a copy in a folder of the server's own: one mount of one folder takes
 * a fraction of the time of forty mounts. The copy is made anew once one of the files has changed.
 */
export class SystemNames {
  readonly #folder: string;
  readonly #source: string;
  #copy: { readonly state: string; readonly folder: string } | null = null;

  /** `folder` is the server's own; `source` is the system's `/etc`. */
  constructor(folder: string, source = "/etc") {
    this.#folder = folder;
    this.#source = source;
    rmSync(folder, { recursive: true, force: true });
  }

  /** The folder of the copy, which is as the system's files are now. An earlier copy stays for the boxes that have it. */
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

/** A link into the system's programs stays one; one that leads elsewhere is copied as what it leads to. What cannot be read is left out. */
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

/** Lets a server that is not root remove its copy again: some systems let nobody write in folders of `/etc`. */
function makeRemovable(path: string): void {
  if (!lstatSync(path).isDirectory()) return;
  chmodSync(path, 0o755);
  for (const name of readdirSync(path)) makeRemovable(join(path, name));
}

/** True for what may be shown to everybody: other files of these folders, such as private keys, are left out. */
function isReadable(path: string): boolean {
  const found = lstatSync(path);
  return found.isSymbolicLink() || (found.mode & 0o004) !== 0;
}
