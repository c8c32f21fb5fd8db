import type { AgentRowFragment, AgentState } from "../generated/documents.ts";

/** An agent in the list. */
export type AgentRow = AgentRowFragment;

/** The filters of the list, as they stand in the address. */
export type AgentFilters = {
  readonly state?: AgentState | undefined;
  readonly template?: string | undefined;
  readonly title?: string | undefined;
  readonly isArchived: boolean;
};

const STATES = ["READY", "WORKING", "PAUSED"] as const satisfies readonly AgentState[];

/** The filters of an address; what is no filter is ignored. */
export function agentFilters(search: Readonly<Record<string, string | undefined>>): AgentFilters {
  const state = STATES.find((each) => each === search["state"]);
  return {
    ...(state === undefined ? {} : { state }),
    ...(search["template"] === undefined ? {} : { template: search["template"] }),
    ...(search["title"] === undefined ? {} : { title: search["title"] }),
    isArchived: search["archived"] === "yes",
  };
}

/** The rows after some of them were read again. The latest activity comes first; rows that no longer pass are left out. */
export function merged(rows: readonly AgentRow[], news: readonly AgentRow[], filters: AgentFilters): readonly AgentRow[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  for (const row of news) {
    if (passes(row, filters)) byId.set(row.id, row);
    else byId.delete(row.id);
  }
  return [...byId.values()].sort((a, b) =>
    a.lastActivityAt < b.lastActivityAt ? 1 : a.lastActivityAt > b.lastActivityAt ? -1 : 0,
  );
}

function passes(row: AgentRow, { state, template, title, isArchived }: AgentFilters): boolean {
  return (
    row.depth === 0 &&
    (row.archivedAt !== null) === isArchived &&
    (state === undefined || row.state === state) &&
    (template === undefined || row.template.templateId === template) &&
    (title === undefined || (row.title ?? "").toLowerCase().includes(title.toLowerCase()))
  );
}
