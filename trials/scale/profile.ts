import { readFileSync } from "node:fs";
import { Session, type Profiler } from "node:inspector/promises";

/** The time between looks of the profiler, in µs: so long that they cost nothing that counts. */
const INTERVAL_US = 5_000;

/** Functions that are a part of what a process does: those of a file with these names, as the profiler says them. */
export type Part = { readonly url: string; readonly names: readonly string[] | "all" };

/** A part. Throws if the file is not there, or declares no function of one of the names: what moved would be measured as nothing. */
export function partOf(file: URL, names: Part["names"]): Part {
  const source = readFileSync(file, "utf8");
  const missing = names === "all" ? undefined : names.find((name) => !source.includes(` ${name}(`));
  if (missing !== undefined) throw new Error(`${file.pathname} has no function ${missing}: name the functions that it has`);
  return { url: file.href, names };
}

/** Profiles this process. What it returns ends that, and answers the share of the parts, with all that they called, in the time in which the process was busy. */
export async function startProfile(parts: readonly Part[]): Promise<() => Promise<number>> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.setSamplingInterval", { interval: INTERVAL_US });
  await session.post("Profiler.start");
  return async () => {
    const { profile } = await session.post("Profiler.stop");
    session.disconnect();
    return shareOf(profile, parts);
  };
}

function shareOf({ nodes, samples = [] }: Profiler.Profile, parts: readonly Part[]): number {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const within = new Set<number>();
  // A parent stands before its children.
  for (const { id, callFrame, children = [] } of nodes) {
    if (parts.some(({ url, names }) => url === callFrame.url && (names === "all" || names.includes(callFrame.functionName))))
      within.add(id);
    if (within.has(id)) for (const child of children) within.add(child);
  }
  const busy = samples.filter((id) => byId.get(id)?.callFrame.functionName !== "(idle)");
  return busy.filter((id) => within.has(id)).length / busy.length;
}
