/**
 * Names of files that mostly hold secrets: environment files, private keys and certificates, tokens of package managers
 * and clouds. A file counts whatever folder it lies in, and so does one in a folder of such a name.
 */
const SECRETS: readonly RegExp[] = [
  /^\.env(?!\.(example|sample|template|dist)$)/i,
  /\.(pem|key|p12|pfx)$/i,
  /^id_(rsa|dsa|ecdsa|ed25519)/i,
  /^\.(npmrc|netrc|pgpass|aws|ssh|gnupg|git-credentials)$/i,
  /^credentials/i,
];

/** True if a path, relative to the workspace, leads to a file that mostly holds secrets. */
export function isSecretPath(path: string): boolean {
  return path.split("/").some((segment) => SECRETS.some((secret) => secret.test(segment)));
}
