/** The version of package.json, and the commit of the checkout in at most 12 digits; null if unknown. */
export type Version = { readonly version: string; readonly commit: string | null };

/** As text: `0.1.0 (60228dd1c2ab)`. */
export function versionText({ version, commit }: Version): string {
  return commit === null ? version : `${version} (${commit})`;
}
