import { byteLength } from "../../../lib/text.ts";
import { lateSection } from "./late-section.ts";
import { definitionDigest, sectionText, type Section } from "./manual.ts";
import type { Tool } from "../tool.ts";

/** The beginning of a message that tells changed sections. */
export const MANUAL_CHANGED = "[The Tools Manual has changed: these sections hold from here on.]";

/** A section that a notice told an agent. The digest is null if it ended; the ordinal is that of the message. */
export type ToldSection = {
  readonly tool: string;
  readonly digest: string | null;
  readonly step: number;
  readonly ordinal: number;
};

/**
 * The manual that an agent was given at the first step with a version of its template, with the digests of its sections
 * by tool. The digest is null if there was none. `told` has the sections that it was told since, in order.
 *
 * If it fixes the tools as well, the requests of the agent offer the tools of then. The sections are the definitions of the tools
 * then, of all of them.
 */
export type ManualView = {
  readonly digest: string | null;
  readonly sections: Readonly<Record<string, string>>;
  readonly fixesTools: boolean;
  readonly told: readonly ToldSection[];
};

/** The most sections that one step tells, and the most bytes of their texts; at least one section. */
const TOLD = { sections: 50, bytes: 32 * 1024 };

/** The newest tellings of each tool that are remembered. */
const REMEMBERED = 16;

/** The most tellings that are kept of an agent. The last one says that no more follow. */
const MOST_TOLD = 2_000;

/** The name of the last telling: it is that of no tool. */
const OTHERS = "*";

type ChangedSection = { readonly tool: string; readonly digest: string | null; readonly text: string };

/**
 * The sections that differ from those that the agent was told last, by tool. A section that the agent had before is
 * told again after 1, 2, 4, 8 … steps since the last telling of its tool. So servers with different configurations that
 * take turns tell less and less, and the last one tells its own all the same. Messages up to `leftOutTo` count as not told.
 */
export function changedSections(
  { sections: digestsGiven, told }: ManualView,
  sections: readonly Section[],
  step: number,
  leftOutTo = -1,
): readonly ChangedSection[] {
  const given = new Map(Object.entries(digestsGiven));
  const present = new Map(sections.map((section) => [section.tool, section]));
  const tellings = tellingsOf(told, leftOutTo);
  const tools = [...new Set([...given.keys(), ...tellings.keys(), ...present.keys()])].toSorted();
  const changed = tools.flatMap((tool): ChangedSection[] => {
    const history = tellings.get(tool) ?? [];
    const digests = [given.get(tool) ?? null, ...history.map(({ digest }) => digest)];
    const section = present.get(tool);
    const digest = section?.digest ?? null;
    if (digest === digests.at(-1)) return [];
    const returns = digests.filter((each, index) => digests.indexOf(each) < index).length;
    if (digests.includes(digest) && step - (history.at(-1)?.step ?? 0) < 2 ** returns) return [];
    return [{ tool, digest, text: section === undefined ? endedText(tool) : sectionText(section) }];
  });
  return within(changed, told);
}

/**
 * The definitions, by tool, that an agent with a fixed list of tools does not know. None is told twice. The next one of the
 * same tool is told after 1, 2, 4, 8 … steps, since a server may change it all the time. A tool that goes is not told: its
 * calls are refused with the reason. Messages up to `leftOutTo` count as not told.
 */
export function changedDefinitions(
  { sections: digestsGiven, told }: ManualView,
  tools: readonly Tool[],
  step: number,
  leftOutTo = -1,
): readonly ChangedSection[] {
  const given = new Map(Object.entries(digestsGiven));
  const tellings = tellingsOf(told, leftOutTo);
  const changed = tools.filter((tool) => {
    const history = tellings.get(tool.name) ?? [];
    const digest = definitionDigest(tool);
    if (given.get(tool.name) === digest || history.some((each) => each.digest === digest)) return false;
    return step - (history.at(-1)?.step ?? 0) >= 2 ** (history.length - 1);
  });
  const first = changed.toSorted((one, other) => (one.name < other.name ? -1 : 1)).slice(0, TOLD.sections);
  return within(
    first.map((tool) => ({ tool: tool.name, digest: definitionDigest(tool), text: lateSection(tool) })),
    told,
  );
}

/** The tellings that the agent can still read, by tool: those after the messages that a compaction has left out. */
function tellingsOf(told: readonly ToldSection[], leftOutTo: number): ReadonlyMap<string, readonly ToldSection[]> {
  return Map.groupBy(
    told.filter(({ ordinal }) => ordinal > leftOutTo),
    ({ tool }) => tool,
  );
}

function endedText(tool: string): string {
  return sectionText({ tool, text: "This tool, or its section, is not there any more." });
}

function within(changed: readonly ChangedSection[], told: readonly ToldSection[]): readonly ChangedSection[] {
  if (told.some(({ tool }) => tool === OTHERS)) return [];
  let bytes = 0;
  const now = changed
    .slice(0, TOLD.sections)
    .filter(({ text }, index) => (bytes += byteLength(text)) <= TOLD.bytes || index === 0);
  const room = Math.max(1, MOST_TOLD - told.length);
  return now.length < room ? now : [...now.slice(0, room - 1), { tool: OTHERS, digest: null, text: othersText() }];
}

function othersText(): string {
  return sectionText({
    tool: OTHERS,
    text: `${MOST_TOLD} sections have been told. Further tools, and further changes of tools, are not told.`,
  });
}

/** The newest tellings of each tool, in order. */
export function remembered(told: readonly ToldSection[]): readonly ToldSection[] {
  const newest = [...Map.groupBy(told, ({ tool }) => tool).values()].flatMap((ofTool) => ofTool.slice(-REMEMBERED));
  const kept = new Set(newest);
  return told.filter((section) => kept.has(section));
}
