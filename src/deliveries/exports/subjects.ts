import { conditions, OPEN, type Parameters } from "../../agent/calls/audit/rows.ts";
import type { Column, View } from "../../db/bi/view.ts";
import { VIEWS } from "../../db/bi/views.ts";
import type { ExportSubject } from "../../db/commit/export-rows.ts";
import type { Export, ExportFilter } from "./export.ts";

/** The conditions on a filter's rows, and the parameters of the statement so far. */
type Chosen = { readonly filter: ExportFilter; readonly parameters: Parameters };

/**
 * The rows of an export. Their columns are those of the SQL views, with the same names and meanings, and the texts those
 * of the view of texts.
 */
export type Subject = {
  readonly view: View;
  readonly texts: View;
  /** The column of the view's tables that identifies a row. */
  readonly id: string;
  /** The most rows that one statement reads. */
  readonly mostRows: number;
  /**
   * SQL of the ids (`id`), agents (`agent_id`) and times (`at`) of rows after a time and an id, in that order. Null for
   * rows that only the log has.
   */
  readonly byTime: ((chosen: Chosen, at: string, id: string) => string) | null;
  /** The kinds of events by which a row becomes final; null for each kind. */
  readonly kinds: readonly string[] | null;
  /** SQL of the id of the row that an event `e` makes final. */
  readonly idOfEvent: string;
  /** SQL of the ids (`id`) and positions (`at`) of the rows that the events of `seen` (id, agent_id, at) make final. */
  readonly bySeen: (chosen: Chosen) => string;
};

function viewOf(schema: View["schema"], name: string): View {
  const found = VIEWS.find((view) => view.schema === schema && view.name === name);
  if (found === undefined) throw new Error(`there is no view ${schema}.${name}`);
  return found;
}

function auditConditions({ filter, parameters }: Chosen): string {
  return conditions({ ...filter, tenant: "", haveRun: false }, parameters);
}

const TOOL_CALLS: Subject = {
  view: viewOf("bi", "tool_call"),
  texts: viewOf("bi_content", "tool_call"),
  id: "t.id",
  mostRows: 2_500,
  byTime: (chosen, at, id) =>
    `SELECT id, agent_id, created_at AS at FROM audit_call WHERE ${auditConditions(chosen)} AND NOT ${OPEN} AND (created_at, id) > (${at}::timestamptz, ${id}::text) ORDER BY created_at, id`,
  kinds: ["TOOL_END"],
  idOfEvent: "e.payload -> 'call' ->> 'callId'",
  bySeen: (chosen) =>
    `SELECT c.id, s.at FROM seen s JOIN LATERAL (SELECT id FROM audit_call WHERE id = s.id AND ${auditConditions(chosen)} OFFSET 0) c ON true`,
};

const APPROVAL_TABLES =
  "approval p JOIN agent a ON a.id = p.agent_id LEFT JOIN LATERAL (SELECT t.name FROM tool_call t WHERE t.id = p.tool_call_id) t ON true";

function approvalConditions({ filter, parameters }: Chosen): string {
  const among = (sql: string, values: readonly string[] | null): string[] =>
    values === null ? [] : [`${sql} = ANY (${parameters.add(values)}::text[])`];
  return [
    "p.tenant = $1 AND p.closed_at IS NOT NULL",
    ...among("a.created_by", filter.visible),
    ...(filter.from === null ? [] : [`p.requested_at >= ${parameters.add(filter.from)}::timestamptz`]),
    ...(filter.to === null ? [] : [`p.requested_at < ${parameters.add(filter.to)}::timestamptz`]),
    ...among("p.agent_id", filter.agentIds),
    ...among("a.template_id", filter.templateIds),
    ...among("t.name", filter.tools),
    ...among("a.created_by", filter.createdBy),
    ...(filter.decidedBy === null
      ? []
      : [
          `EXISTS (SELECT FROM decision d WHERE d.approval_id = p.id AND d.actor_id = ANY (${parameters.add(filter.decidedBy)}::text[]))`,
        ]),
  ].join(" AND ");
}

const APPROVALS: Subject = {
  view: viewOf("bi", "approval"),
  texts: viewOf("bi_content", "approval"),
  id: "p.id",
  mostRows: 2_500,
  byTime: (chosen, at, id) =>
    `SELECT p.id, p.agent_id, p.closed_at AS at FROM ${APPROVAL_TABLES} WHERE ${approvalConditions(chosen)} AND (p.closed_at, p.id) > (${at}::timestamptz, ${id}::text) ORDER BY p.closed_at, p.id`,
  kinds: ["PERMISSION_DECIDED", "PERMISSION_CLOSED"],
  // Of several people who must allow it, only the last makes it final. PERMISSION_CLOSED follows a decision that made it STALE.
  idOfEvent:
    "CASE WHEN e.kind = 'PERMISSION_CLOSED' OR e.payload ->> 'approvalState' NOT IN ('PENDING', 'STALE') THEN e.payload ->> 'approvalId' END",
  bySeen: (chosen) =>
    `SELECT p.id, s.at FROM seen s JOIN ${APPROVAL_TABLES.replace("approval p", "approval p ON p.id = s.id")} WHERE ${approvalConditions(chosen)}`,
};

const EVENT_VIEW = viewOf("bi", "event");

const EVENTS: Subject = {
  // Positions are exact numbers in JSON.
  view: {
    ...EVENT_VIEW,
    columns: EVENT_VIEW.columns.map(([name, sql, meaning]): Column => [
      name,
      name === "position" ? `${sql}::float8` : sql,
      meaning,
    ]),
  },
  texts: viewOf("bi_content", "event"),
  id: "e.position",
  mostRows: 5_000,
  byTime: null,
  kinds: null,
  idOfEvent: "e.position::text",
  bySeen: ({ filter, parameters }) => {
    const among = (sql: string, values: readonly string[] | null): string[] =>
      values === null ? [] : [`${sql} = ANY (${parameters.add(values)}::text[])`];
    const terms = [
      ...among("a.created_by", filter.visible),
      ...(filter.from === null ? [] : [`s.time >= ${parameters.add(filter.from)}::timestamptz`]),
      ...(filter.to === null ? [] : [`s.time < ${parameters.add(filter.to)}::timestamptz`]),
      ...among("s.agent_id", filter.agentIds),
      ...among("a.template_id", filter.templateIds),
      ...among("a.created_by", filter.createdBy),
    ];
    return `SELECT s.at AS id, s.at FROM seen s LEFT JOIN agent a ON a.id = s.agent_id${terms.length === 0 ? "" : ` WHERE ${terms.join(" AND ")}`}`;
  },
};

const SUBJECTS: Readonly<Record<ExportSubject, Subject>> = { TOOL_CALLS, APPROVALS, EVENTS };

export function subjectOf({ what }: Pick<Export, "what">): Subject {
  return SUBJECTS[what];
}

/** The columns of the export's file, in order. */
export function columnsOf({ what, hasTexts }: Pick<Export, "what" | "hasTexts">): readonly Column[] {
  const { view, texts } = SUBJECTS[what];
  const known = new Set(view.columns.map(([name]) => name));
  return hasTexts ? [...view.columns, ...texts.columns.filter(([name]) => !known.has(name))] : view.columns;
}

/** The conditions of a filter that these rows do not have. */
export function foreignConditions(what: ExportSubject, filter: ExportFilter): readonly string[] {
  const ofCalls = ["states", "errorTypes", "verdicts", "rules", "places", "minDurationMs", "exitCodes", "hosts"] as const;
  const foreign = what === "TOOL_CALLS" ? [] : what === "APPROVALS" ? ofCalls : ([...ofCalls, "tools", "decidedBy"] as const);
  return foreign.filter((name) => filter[name] !== null);
}
