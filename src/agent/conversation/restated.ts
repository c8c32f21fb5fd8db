import type { Sql, Statement } from "../../db/sql.ts";
import type { ApprovalKind } from "../../db/generated/enums.ts";
import { unmarked } from "./marks.ts";

/** The most entries of each part. */
const MOST = 20;
const MOST_FILES = 50;
const TEXT_CHARACTERS = 200;

type Asked = {
  readonly kind: ApprovalKind;
  readonly tool: string | null;
  readonly host: string | null;
  readonly call: string | null;
};

type Rows = {
  readonly todos: readonly { readonly title: string; readonly status: string }[];
  readonly approvals: readonly Asked[];
  readonly decisions: readonly (Asked & { readonly decision: string; readonly note: string | null })[];
  readonly files: readonly { readonly path: string; readonly access: string }[];
  readonly children: readonly {
    readonly id: string;
    readonly title: string | null;
    readonly state: string;
    readonly outcome: string | null;
  }[];
  readonly shells: readonly { readonly id: string; readonly command: string }[];
  readonly schedules: readonly { readonly text: string; readonly isPaused: boolean }[];
  readonly notices: readonly { readonly text: string }[];
};

const list = (row: string, from: string, order: string): string =>
  `(SELECT coalesce(json_agg(r.row ORDER BY r.place), '[]') FROM (SELECT json_build_object(${row}) AS row, row_number() OVER (ORDER BY ${order}) AS place FROM ${from} ORDER BY ${order}`;

const READ: Statement<{ rows: Rows }, [agentId: string, most: number, files: number]> = {
  name: "read_restated",
  text: `SELECT json_build_object(
    'todos', ${list("'title', t.title, 'status', t.status", "todo t WHERE t.agent_id = $1", "t.place")} LIMIT $2) r),
    'approvals', ${list("'kind', p.kind, 'tool', c.name, 'host', p.host, 'call', c.provider_id", "approval p LEFT JOIN tool_call c ON c.id = p.tool_call_id WHERE p.agent_id = $1 AND p.state = 'PENDING'", "p.requested_at, p.id")} LIMIT $2) r),
    'decisions', ${list("'kind', p.kind, 'tool', c.name, 'host', p.host, 'call', c.provider_id, 'decision', d.decision, 'note', d.note", "approval p JOIN decision d ON d.approval_id = p.id LEFT JOIN tool_call c ON c.id = p.tool_call_id WHERE p.agent_id = $1 AND p.erased_at IS NULL", "d.decided_at DESC, d.approval_id")} LIMIT $2) r),
    'files', ${list("'path', k.path, 'access', k.access", "known_file k WHERE k.agent_id = $1", "k.at DESC, k.path")} LIMIT $3) r),
    'children', ${list("'id', b.id, 'title', coalesce(b.title, b.template_id), 'state', b.state, 'outcome', b.done_reason", "agent b WHERE b.parent_id = $1 AND b.archived_at IS NULL", "b.created_at DESC, b.id")} LIMIT $2) r),
    'shells', ${list("'id', s.id, 'command', left(s.command, 200)", "shell s WHERE s.agent_id = $1 AND s.state = 'RUNNING'", "s.started_at, s.id")} LIMIT $2) r),
    'schedules', ${list("'text', left(s.text, 200), 'isPaused', s.paused_at IS NOT NULL", "schedule s WHERE s.agent_id = $1", "s.created_at, s.id")} LIMIT $2) r),
    'notices', ${list("'text', left(n.text, 400)", "notice n WHERE n.agent_id = $1 AND n.source IN ('CHILD', 'INTERRUPTED_CHILD', 'SHELL', 'FILE', 'HOST') AND n.told_at_step IS NOT NULL", "n.id DESC")} LIMIT $2) r)
  ) AS rows`,
};

/** The present rows of an agent as a text for its model; null if there are none. The order of the parts is fixed. */
export async function restated(sql: Sql, agentId: string): Promise<string | null> {
  const [read] = await sql.query(READ, [agentId, MOST, MOST_FILES]);
  return read === undefined ? null : restatedText(read.rows);
}

export function restatedText(rows: Rows): string | null {
  const parts = [
    part(
      "Todos",
      rows.todos.map(({ title, status }) => `[${status}] ${title}`),
    ),
    part(
      "Open approvals",
      rows.approvals.map((asked) => subject(asked)),
    ),
    part("Decisions of people, newest first", rows.decisions.map(decided)),
    part(
      "Files that you have read or written, newest first",
      rows.files.map(({ path, access }) => `${path} (${access.toLowerCase()})`),
    ),
    part(
      "Agents that you have started, newest first",
      rows.children.map(
        ({ id, title, state, outcome }) =>
          `${title ?? ""} (${id}): ${state === "READY" ? (outcome ?? "not started") : "working"}`,
      ),
    ),
    part(
      "Running background shells",
      rows.shells.map(({ id, command }) => `${id}: ${command}`),
    ),
    part(
      "Schedules",
      rows.schedules.map(({ text, isPaused }) => `${text}${isPaused ? " (paused)" : ""}`),
    ),
    part(
      "Notices that you were told, newest first",
      rows.notices.map(({ text }) => text),
    ),
  ].filter((text) => text !== null);
  if (parts.length === 0) return null;
  return `[The state of your work when the earlier part was left out, from the server's records.]\n<agent-state>\n${parts.join("\n")}\n</agent-state>`;
}

function part(title: string, lines: readonly string[]): string | null {
  return lines.length === 0 ? null : `${title}:\n${lines.map((line) => `- ${oneLine(line)}`).join("\n")}`;
}

function decided({ decision, note, ...asked }: Rows["decisions"][number]): string {
  return `${subject(asked)}: ${decision.toLowerCase()}${note === null ? "" : ` (${note})`}`;
}

function subject({ kind, tool, host, call }: Asked): string {
  const of = call === null ? "" : ` (call ${call})`;
  switch (kind) {
    case "TOOL_CALL":
      return `${tool}${of}`;
    case "OUTCOME_UNKNOWN":
      return `the unknown outcome of ${tool}${of}`;
    case "TOOL_INPUT":
      return `a question of ${tool}${of}`;
    case "NETWORK_HOST":
      return `the host ${host}${of}`;
    case "BUDGET":
      return "the limit of a budget";
  }
}

function oneLine(text: string): string {
  return unmarked(text.replaceAll(/\s+/g, " ")).slice(0, TEXT_CHARACTERS);
}
