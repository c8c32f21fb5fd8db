/** The version of a server: that of package.json, and the commit of its checkout, in at most 12 digits; null where nothing says it. */
export type Version = { readonly version: string; readonly commit: string | null };

/** The version as people read it: `0.1.0 (60228dd1c2ab)`. */
export function versionText({ version, commit }: Version): string {
  return commit === null ? version : `${version} (${commit})`;
}
