import { conditions, OPEN } from "../../agent/calls/audit/rows.ts";
import type { Column } from "../../db/bi/view.ts";
import type { ExportSubject } from "../../db/commit/export-rows.ts";
import { DECISIONS, MESSAGES, STEPS, TURNS } from "./agent-subjects.ts";
import type { Export, ExportFilter } from "./export.ts";
import { all, among, ofAgents, viewOf, within, withNumbers, type Chosen, type Subject } from "./subject.ts";

/** Keys of rows that are final one by one. */
const ONE_BY_ONE = { order: "k.at, k.place", factsOfEvent: "", afterAtPosition: null } as const;

function auditConditions({ filter, parameters }: Chosen): string {
  return conditions({ ...filter, tenant: "", haveRun: false }, parameters);
}

const TOOL_CALLS: Subject = {
  view: viewOf("bi", "tool_call"),
  texts: viewOf("bi_content", "tool_call"),
  ...ONE_BY_ONE,
  matches: "t.id = k.place",
  mostRows: 2_500,
  byTime: (chosen, { at, id }) => {
    const { parameters } = chosen;
    return `SELECT created_at AS at, id AS place, id AS unit, agent_id, 0 AS size FROM audit_call WHERE ${auditConditions(chosen)} AND NOT ${OPEN}
      AND (created_at, id) > (${parameters.add(at)}::timestamptz, ${parameters.add(id)}::text) ORDER BY created_at, id`;
  },
  kinds: ["TOOL_END"],
  unitOfEvent: "e.payload -> 'call' ->> 'callId'",
  bySeen: (chosen) =>
    `SELECT s.at, c.id AS place, c.id AS unit, s.agent_id, 0 AS size FROM seen s JOIN LATERAL (SELECT id FROM audit_call WHERE id = s.unit AND ${auditConditions(chosen)} OFFSET 0) c ON true`,
};

const APPROVAL_TABLES =
  "approval p JOIN agent a ON a.id = p.agent_id LEFT JOIN LATERAL (SELECT t.name FROM tool_call t WHERE t.id = p.tool_call_id) t ON true";

function approvalConditions(chosen: Chosen): string {
  const { filter, parameters } = chosen;
  const { decidedBy } = filter;
  return all([
    "p.tenant = $1 AND p.closed_at IS NOT NULL",
    ...ofAgents(chosen),
    ...within("p.requested_at", chosen),
    ...among("t.name", filter.tools, parameters),
    ...(decidedBy === null
      ? []
      : [`EXISTS (SELECT FROM decision d WHERE d.approval_id = p.id AND ${all(among("d.actor_id", decidedBy, parameters))})`]),
  ]);
}

const APPROVALS: Subject = {
  view: viewOf("bi", "approval"),
  texts: viewOf("bi_content", "approval"),
  ...ONE_BY_ONE,
  matches: "p.id = k.place",
  mostRows: 2_500,
  byTime: (chosen, { at, id }) => {
    const { parameters } = chosen;
    return `SELECT p.requested_at AS at, p.id AS place, p.id AS unit, p.agent_id, 0 AS size FROM ${APPROVAL_TABLES} WHERE ${approvalConditions(chosen)}
      AND (p.requested_at, p.id) > (${parameters.add(at)}::timestamptz, ${parameters.add(id)}::text) ORDER BY p.requested_at, p.id`;
  },
  kinds: ["PERMISSION_DECIDED", "PERMISSION_CLOSED"],
  // Of several people who must allow it, only the last makes it final. A call's approval that is STALE was decided before.
  unitOfEvent: `CASE WHEN CASE e.kind WHEN 'PERMISSION_DECIDED' THEN e.payload ->> 'approvalState' <> 'PENDING'
      ELSE e.payload ->> 'approvalState' <> 'STALE' OR e.payload ->> 'callId' IS NULL END THEN e.payload ->> 'approvalId' END`,
  bySeen: (chosen) =>
    `SELECT s.at, p.id AS place, p.id AS unit, p.agent_id, 0 AS size FROM seen s JOIN ${APPROVAL_TABLES.replace("approval p", "approval p ON p.id = s.unit")} WHERE ${approvalConditions(chosen)}`,
};

const EVENTS: Subject = {
  view: withNumbers(viewOf("bi", "event"), ["position"]),
  texts: viewOf("bi_content", "event"),
  ...ONE_BY_ONE,
  matches: "e.position = k.place::bigint",
  mostRows: 5_000,
  byTime: null,
  kinds: null,
  unitOfEvent: "e.position::text",
  bySeen: (chosen) =>
    `SELECT s.at, s.unit AS place, s.unit, s.agent_id, 0 AS size FROM seen s LEFT JOIN agent a ON a.id = s.agent_id WHERE ${all([...ofAgents(chosen), ...within("s.time", chosen)])}`,
};

const SUBJECTS: Readonly<Record<ExportSubject, Subject>> = {
  TOOL_CALLS,
  APPROVALS,
  DECISIONS,
  MESSAGES,
  STEPS,
  TURNS,
  EVENTS,
};

export function subjectOf({ what }: Pick<Export, "what">): Subject {
  return SUBJECTS[what];
}

/** The columns of the export's file, in order. */
export function columnsOf({ what, hasTexts }: Pick<Export, "what" | "hasTexts">): readonly Column[] {
  const { view, texts } = SUBJECTS[what];
  const known = new Set(view.columns.map(([name]) => name));
  return hasTexts && texts !== null ? [...view.columns, ...texts.columns.filter(([name]) => !known.has(name))] : view.columns;
}

const OF_CALLS = ["states", "errorTypes", "verdicts", "rules", "places", "minDurationMs", "exitCodes", "hosts"] as const;

/** The further conditions of a filter. All rows have those of agents, templates, creators and the time. */
const CONDITIONS: Readonly<Record<ExportSubject, readonly string[]>> = {
  TOOL_CALLS: [...OF_CALLS, "tools", "decidedBy", "models"],
  APPROVALS: ["tools", "decidedBy"],
  DECISIONS: ["tools", "decidedBy"],
  MESSAGES: [],
  STEPS: ["models"],
  TURNS: ["models"],
  EVENTS: [],
};

/** The conditions of a filter that these rows do not have. */
export function foreignConditions(what: ExportSubject, filter: ExportFilter): readonly string[] {
  const own = CONDITIONS[what];
  return ([...OF_CALLS, "tools", "decidedBy", "models"] as const).filter((name) => filter[name] !== null && !own.includes(name));
}

/** True if the rows have texts. */
export function mayHaveTexts(what: ExportSubject): boolean {
  return SUBJECTS[what].texts !== null;
}
