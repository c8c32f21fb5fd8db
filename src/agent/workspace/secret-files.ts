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

/** The configuration of a repository, in which tokens for its remotes may stand. */
const REPOSITORY = /(?:^|\/)\.git\/(?:.*\/)?config(?:\.worktree)?$/;

/** True if a path, relative to the workspace, leads to a file that mostly holds secrets. */
export function isSecretPath(path: string): boolean {
  return REPOSITORY.test(path) || path.split("/").some((segment) => SECRETS.some((secret) => secret.test(segment)));
}

/** An address with a token or a password in it, or a header for one, as the configuration of a repository may have it. */
const TOKEN =
  /https?:\/\/[^/@\s]+@|:\/\/[^/@:\s]+:[^/@\s]+@|[?&][^=&\s]*(?:token|key|secret|password|signature)[^=&\s]*=|extraheader/i;

/** True if a text of a repository's configuration has a token in it. */
export function hasToken(text: string): boolean {
  return TOKEN.test(text);
}
