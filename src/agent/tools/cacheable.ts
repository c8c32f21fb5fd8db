import type { CommandUse, PathUse } from "./path-places.ts";

type Dependencies = {
  readonly readOnly: boolean;
  readonly paths: Readonly<Record<string, PathUse>> | null;
  readonly commands: Readonly<Record<string, CommandUse>>;
};

/** Why a tool's answers may not be reused, as words after its name; null if they may. */
export function cacheProblem({ readOnly, paths, commands }: Dependencies): string | null {
  if (!readOnly) return "it is not readOnly, and what changes something must happen at each call";
  if (paths === null) return "name the files that it reads in paths, or say paths: {} if it reads none";
  const [place] = Object.entries(paths).find(([, use]) => use !== "read") ?? [];
  if (place !== undefined) return `paths.${place} is not "read": only files that are named can be compared`;
  return Object.keys(commands).length > 0 ? "what its commands depend on is not known" : null;
}
