import { useEffect, useState } from "react";
import {
  AgentChangesDocument,
  AgentRowsDocument,
  AgentsDocument,
  type AgentRowsQuery,
  type AgentsQuery,
} from "../generated/documents.ts";
import { ask, follow } from "../session/ask.ts";
import { merged, type AgentFilters, type AgentRow } from "./roster.ts";

/** Changed agents are read together, at most so often; ms. */
const GATHER_MS = 400;
/** The most agents of one read. */
const MOST_IDS = 100;

export type Roster = {
  readonly rows: readonly AgentRow[];
  readonly total: number | null;
  readonly hasMore: boolean;
  readonly problem: string | null;
};

const EMPTY: Roster = { rows: [], total: null, hasMore: false, problem: null };

/** The agents that pass the filters, live. */
export function useRoster(filters: AgentFilters): Roster & { readonly more: () => void } {
  const { state, template, title, isArchived } = filters;
  const [roster, setRoster] = useState<Roster>(EMPTY);
  const [after, setAfter] = useState<string | null>(null);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    let end = (): void => {};
    let timer: ReturnType<typeof setTimeout> | undefined;
    const changed = new Set<string>();
    const failed = (problem: unknown): void =>
      isCurrent
        ? setRoster((now) => ({ ...now, problem: problem instanceof Error ? problem.message : String(problem) }))
        : undefined;
    const readChanged = (): void => {
      timer = undefined;
      const ids = [...changed].slice(0, MOST_IDS);
      for (const id of ids) changed.delete(id);
      ask(AgentRowsDocument, { ids }).then(
        ({ nodes }) => isCurrent && setRoster((now) => ({ ...now, rows: merged(now.rows, nodes.filter(isAgent), filters) })),
        failed,
      );
      if (changed.size > 0) timer = setTimeout(readChanged, GATHER_MS);
    };
    setRoster((now) => ({ ...now, problem: null }));
    setAfter(null);
    readPage(filters, null).then(({ nodes, totalCount, asOf, pageInfo }) => {
      if (!isCurrent) return;
      setRoster({ rows: nodes, total: totalCount, hasMore: pageInfo.hasNextPage, problem: null });
      setAfter(pageInfo.endCursor);
      end = follow(
        AgentChangesDocument,
        { since: asOf },
        {
          page: ({ timeline }) => {
            for (const { agent } of timeline.events) if (agent !== null) changed.add(agent.id);
            if (changed.size > 0) timer ??= setTimeout(readChanged, GATHER_MS);
          },
          lostPlace: () => setTries((count) => count + 1),
          failed,
        },
      );
    }, failed);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
      end();
    };
  }, [state, template, title, isArchived, tries]);
  const more = (): void =>
    void readPage(filters, after).then(
      ({ nodes, pageInfo }) => {
        setRoster((now) => ({ ...now, rows: merged(now.rows, nodes, filters), hasMore: pageInfo.hasNextPage }));
        setAfter(pageInfo.endCursor);
      },
      (problem: unknown) => setRoster((now) => ({ ...now, problem: String(problem) })),
    );
  return { ...roster, more };
}

async function readPage(
  { state, template, title, isArchived }: AgentFilters,
  after: string | null,
): Promise<AgentsQuery["agents"]> {
  const filter = {
    rootsOnly: true,
    isArchived,
    ...(state === undefined ? {} : { states: [state] }),
    ...(template === undefined ? {} : { templateIds: [template] }),
    ...(title === undefined ? {} : { title }),
  };
  const { agents } = await ask(AgentsDocument, { filter, after });
  return agents;
}

/** The agents below one; empty until they are read. They are read again each time that `version` changes. */
export function useChildren(agentId: string | null, version: unknown): readonly AgentRow[] {
  const [rows, setRows] = useState<readonly AgentRow[]>([]);
  useEffect(() => {
    if (agentId === null) return;
    let isCurrent = true;
    ask(AgentsDocument, { filter: { parentIds: [agentId], isArchived: null }, after: null }).then(
      ({ agents }) => (isCurrent ? setRows(agents.nodes.toReversed()) : null),
      () => null,
    );
    return () => {
      isCurrent = false;
    };
  }, [agentId, version]);
  return rows;
}

function isAgent(node: AgentRowsQuery["nodes"][number]): node is AgentRow {
  return node !== null && "lastActivityAt" in node;
}
