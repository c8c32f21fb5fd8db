import type { CommandUse, PathUse } from "./path-places.ts";

/** The parts of a definition that decide if a tool's answers may be given again. `paths` is null if the definition does not say them. */
type Dependencies = {
  readonly readOnly: boolean;
  readonly paths: Readonly<Record<string, PathUse>> | null;
  readonly commands: Readonly<Record<string, CommandUse>>;
};

/** Says why the answers of a tool cannot be given again, in words that follow its name; null if they can. */
export function cacheProblem({ readOnly, paths, commands }: Dependencies): string | null {
  if (!readOnly) return "it is not readOnly, and what changes something must happen at each call";
  if (paths === null) return "name the files that it reads in paths, or say paths: {} if it reads none";
  const [place] = Object.entries(paths).find(([, use]) => use !== "read") ?? [];
  if (place !== undefined) return `paths.${place} is not "read": only files that are named can be compared`;
  return Object.keys(commands).length > 0 ? "what its commands depend on is not known" : null;
}
