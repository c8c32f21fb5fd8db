import { readFile } from "node:fs/promises";

/** The parts of a version of Node. */
type Version = readonly [major: number, minor: number, patch: number];

/**
 * What is wrong with the Nodes that the project carries: each must have the fixes of the newest security release of its line, as the
 * CHANGELOG that one of them brings says. Empty for nothing.
 */
export async function carriedNodeProblems(): Promise<readonly string[]> {
  const { optionalDependencies } = JSON.parse(await readFile("package.json", "utf8")) as {
    readonly optionalDependencies: Readonly<Record<string, string>>;
  };
  const bootstrap = await readFile("scripts/bootstrap.mjs", "utf8");
  const carried = Object.entries(optionalDependencies).filter(([name]) => name.startsWith("node-"));
  const changelogs = await Promise.all(
    carried.map(async ([name]) => readFile(`node_modules/${name}/CHANGELOG.md`, "utf8").catch(() => null)),
  );
  const changelog = changelogs.find((text) => text !== null);
  if (changelog === undefined) return [];
  return problemsWith(carried, changelog ?? "", /SECURE_NODE = "([\d.]+)"/.exec(bootstrap)?.[1] ?? "0.0.0");
}

/** The same of versions by the names of their packages, a CHANGELOG of Node, and the version that the bootstrap tells to install. */
export function problemsWith(
  carried: readonly (readonly [name: string, version: string])[],
  changelog: string,
  told: string,
): readonly string[] {
  const secure = newestSecurityRelease(changelog);
  if (secure === null) return ["the CHANGELOG of Node names no security release: look at scripts/carried-node.ts"];
  const [newest, text] = [partsOf(secure), secure];
  const old = carried.filter(([, version]) => partsOf(version)[0] === newest[0] && isOlder(partsOf(version), newest));
  return [
    ...old.map(([name, version]) => `${name} carries Node ${version}, which lacks the fixes of the security release ${text}`),
    ...(told === text ? [] : [`SECURE_NODE of scripts/bootstrap.mjs is ${told}, and the newest security release is ${text}`]),
  ];
}

/** The newest version of which a CHANGELOG says that it is a security release: the newest stands first. */
function newestSecurityRelease(changelog: string): string | null {
  const sections = changelog.split(/^## /m);
  const section = sections.find((each) => /^This is a security release/m.test(each));
  return /Version (\d+\.\d+\.\d+)/.exec(section ?? "")?.[1] ?? null;
}

function partsOf(version: string): Version {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  return [major, minor, patch];
}

function isOlder(one: Version, other: Version): boolean {
  const at = one.findIndex((part, index) => part !== other[index]);
  return at >= 0 && (one[at] ?? 0) < (other[at] ?? 0);
}
