import { visible } from "@triplane/client/command-lines";
import { toolOf } from "../calls/asked-words.ts";
import type { InboxRowFragment } from "../generated/documents.ts";

/** An open approval, as the list shows it. */
export type Row = InboxRowFragment;

/** The filters of the address. An absent one lets everything pass. */
export type Filters = {
  readonly template?: string | undefined;
  readonly tool?: string | undefined;
  readonly agent?: string | undefined;
  readonly requester?: string | undefined;
  /** Words that a row must contain, each of them. */
  readonly find?: string | undefined;
};

/** The inbox leaves out questions that the viewer has put off; they have a view of their own. */
export type InboxSearch = Filters & { readonly view?: "snoozed" | undefined };

/** The filters of the history are those of the inbox, without the words: the server has all rows. */
export type HistorySearch = Omit<Filters, "find">;

/** The open rows, and those that the viewer has put off. */
export function inboxViews(
  rows: ReadonlyMap<string, Row>,
  putOff: ReadonlySet<string>,
): { readonly open: ReadonlyMap<string, Row>; readonly snoozed: ReadonlyMap<string, Row> } {
  if (putOff.size === 0) return { open: rows, snoozed: new Map() };
  const open = new Map(rows);
  const snoozed = new Map<string, Row>();
  for (const id of putOff) {
    const row = open.get(id);
    if (row === undefined) continue;
    open.delete(id);
    snoozed.set(id, row);
  }
  return { open, snoozed };
}

/** The names of the filters with choices, in the order of their fields. */
export const FILTERS = ["template", "tool", "requester", "agent"] as const satisfies readonly (keyof Filters)[];
export type Choosable = (typeof FILTERS)[number];

const RISKS = { HIGH: 9, MEDIUM: 3, LOW: 1 } as const;
const MINUTE_MS = 60_000;
/** An approval that expires within this time becomes more urgent with every minute. */
const SOON_MS = 60 * MINUTE_MS;
const SOON_FACTOR = 8;

/** Risk × waiting × expiry. Greater is more urgent. */
export function urgency(
  { risk, requestedAt, expiresAt }: Pick<Row, "risk" | "requestedAt" | "expiresAt">,
  nowMs: number,
): number {
  const waitedMinutes = Math.max(0, nowMs - Date.parse(requestedAt)) / MINUTE_MS;
  const leftMs = expiresAt === null ? SOON_MS : Math.max(0, Date.parse(expiresAt) - nowMs);
  const soon = 1 + SOON_FACTOR * Math.max(0, 1 - leftMs / SOON_MS);
  return RISKS[risk] * (1 + Math.log2(1 + waitedMinutes)) * soon;
}

/** The rows that pass the filters, the most urgent first. Of equal ones the older comes first. */
export function ordered(rows: Iterable<Row>, filters: Filters, nowMs: number): readonly Row[] {
  const kept = [];
  for (const row of rows) if (passes(row, filters)) kept.push({ row, urgency: urgency(row, nowMs) });
  return kept.sort((a, b) => b.urgency - a.urgency || compareTexts(a.row.requestedAt, b.row.requestedAt)).map(({ row }) => row);
}

function compareTexts(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

export function passes(row: Row, { template, tool, agent, requester, find }: Filters): boolean {
  return (
    (template === undefined || row.agent.template.templateId === template) &&
    (tool === undefined || toolOf(row) === tool) &&
    (agent === undefined || row.agent.id === agent) &&
    (requester === undefined || row.requestedBy.some(({ actorId }) => actorId === requester)) &&
    (find === undefined || contains(row, find))
  );
}

const texts = new WeakMap<Row, string>();

/** The searched text of a row: its ids, the tool, the agent, the people, and the beginning of the action. */
function textOf(row: Row): string {
  const known = texts.get(row);
  if (known !== undefined) return known;
  const { agent, toolCall, requestedBy, subject } = row;
  const people = requestedBy.flatMap(({ actorId, name }) => [actorId, name ?? ""]);
  const asked =
    subject === null
      ? ""
      : "host" in subject
        ? `${subject.host}:${subject.port}`
        : "message" in subject
          ? `${subject.server} ${subject.message}`
          : "";
  const parts = [row.id, toolOf(row), agent.id, agent.title ?? "", agent.template.templateId, ...people, asked];
  const text = [...parts, row.shortId, agent.shortId, toolCall?.inputPreview ?? ""].join("\n").toLowerCase();
  texts.set(row, text);
  return text;
}

function contains(row: Row, words: string): boolean {
  const text = textOf(row);
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word.replace(/^#/, "")));
}

/** A filter offers so many values. Others can stand in the address. */
const MOST_CHOICES = 50;

/** The values that a filter can have among the rows, with their counts, the most frequent first. */
export function choicesOf(
  rows: Iterable<Row>,
  filter: Choosable,
): readonly { readonly value: string; readonly label: string; readonly count: number }[] {
  const counts = new Map<string, { label: string; count: number }>();
  for (const row of rows)
    for (const { value, label } of valuesOf(row, filter)) {
      const known = counts.get(value);
      counts.set(value, { label, count: (known?.count ?? 0) + 1 });
    }
  return [...counts]
    .map(([value, { label, count }]) => ({ value, label, count }))
    .sort((a, b) => b.count - a.count || compareTexts(a.label, b.label))
    .slice(0, MOST_CHOICES);
}

function valuesOf(row: Row, filter: Choosable): readonly { readonly value: string; readonly label: string }[] {
  switch (filter) {
    case "template":
      return [{ value: row.agent.template.templateId, label: row.agent.template.templateId }];
    case "tool":
      return [{ value: toolOf(row), label: toolOf(row) }];
    case "agent":
      return [{ value: row.agent.id, label: visible(row.agent.title ?? row.agent.shortId) }];
    case "requester":
      return row.requestedBy.map(({ actorId, name }) => ({ value: actorId, label: visible(name ?? actorId) }));
  }
}

/** The line that is selected after this one has left the list: the next, or the last one. */
export function neighbour<Line extends { readonly id: string }>(
  lines: readonly Line[],
  id: string,
  step: 1 | -1,
): Line | undefined {
  const place = lines.findIndex((line) => line.id === id);
  if (place < 0) return lines[0];
  return lines[place + step];
}
