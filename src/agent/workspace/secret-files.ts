/**
 * Names of files that probably contain secrets: environment files, private keys and certificates, tokens of package
 * managers and clouds. They count in any folder, and also as names of parent folders.
 */
const SECRETS: readonly RegExp[] = [
  /^\.env(?!\.(example|sample|template|dist)$)/i,
  /\.(pem|key|p12|pfx)$/i,
  /^id_(rsa|dsa|ecdsa|ed25519)/i,
  /^\.(npmrc|netrc|pgpass|aws|ssh|gnupg|git-credentials)$/i,
  /^credentials/i,
];

/** The configuration of a repository, which may contain tokens for its remotes. */
const REPOSITORY = /(?:^|\/)\.git\/(?:.*\/)?config(?:\.worktree)?$/;

export function isSecretPath(path: string): boolean {
  return REPOSITORY.test(path) || path.split("/").some((segment) => SECRETS.some((secret) => secret.test(segment)));
}

const TOKEN =
  /https?:\/\/[^/@\s]+@|:\/\/[^/@:\s]+:[^/@\s]+@|[?&][^=&\s]*(?:token|key|secret|password|signature)[^=&\s]*=|extraheader/i;

export function hasToken(text: string): boolean {
  return TOKEN.test(text);
}
