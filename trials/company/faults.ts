import { randomUUID } from "node:crypto";
import type { Sql, Statement } from "../../src/db/sql.ts";

/** The parameters of `commit_change` with the id of the commit, and with the change. */
const COMMIT = 1;
const CHANGE = 6;

/** A change as JSON, as far as faults look at it. */
type Change = {
  readonly transitions?: readonly { readonly id: string; readonly from: string }[];
  readonly waits?: readonly { readonly kind: string }[];
  readonly waitSettled?: object;
};

type Faulty = <Row>(sql: Sql, statement: Statement<Row>, values: readonly unknown[]) => Promise<Row[]>;

/** The faults of trial:company, all in the servers of one planted run. Each is seen at calls of its own tool. */
export function faulty(sql: Sql): Sql {
  return {
    ...sql,
    query: async (statement, values) => {
      if (statement.name === "claim_agents") await sql.query(AGAIN, []);
      if (statement.name === "nearest_due") await sql.query(SET_DUE, []);
      if (statement.name !== "commit_change") return sql.query(statement, values);
      const change = JSON.parse(String(values[CHANGE])) as Change;
      const fault = faultOf(change);
      return fault === null ? sql.query(statement, values) : fault(sql, statement, values);
    },
  };
}

function faultOf(change: Change): Faulty | null {
  if (change.waits?.some(({ kind }) => kind === "MCP_TASK") === true) return withoutDue(change);
  if (change.transitions?.some(({ from }) => from === "WAITING") !== true) return null;
  return change.waitSettled === undefined ? unconditional(change) : twice(change);
}

/** A result is committed whatever the state of its call. */
function unconditional(change: Change): Faulty {
  const stateOf = { name: "state_of_call", text: "SELECT state::text FROM tool_call WHERE id = $1" };
  return async (sql, statement, values) => {
    try {
      return await sql.query(statement, values);
    } catch (error) {
      const [found] = await sql.query<{ state: string }>(stateOf, [change.transitions?.[0]?.id]);
      if (found === undefined) throw error;
      return sql.query(statement, withChange(values, from(change, found.state)));
    }
  };
}

/** The result of a task is committed again. */
function twice(change: Change): Faulty {
  const { waitSettled: _settled, ...again } = change;
  return async (sql, statement, values) => {
    const rows = await sql.query(statement, values);
    await sql.query(statement, withChange(values.with(COMMIT, randomUUID()), from(again, "COMPLETED")));
    return rows;
  };
}

/** The wait for a task has no time at first: a second statement sets it. */
function withoutDue(change: Change): Faulty {
  const waits = change.waits?.map((wait) => (wait.kind === "MCP_TASK" ? Object.assign({}, wait, { due: null }) : wait));
  return (sql, statement, values) => sql.query(statement, withChange(values, { ...change, ...(waits && { waits }) }));
}

const SET_DUE = {
  name: "set_due_of_tasks",
  text: `UPDATE wait w SET due = now() FROM tool_call t WHERE t.id = w.call_id AND w.kind = 'MCP_TASK' AND w.due IS NULL AND w.settled_at IS NULL
    AND t.updated_at < now() - interval '500 ms'`,
};

/** A call whose server died after the answer to its question left runs again. */
const AGAIN = {
  name: "run_answered_again",
  text: `UPDATE tool_call SET state = 'APPROVAL_REQUIRED' WHERE state = 'EXECUTING' AND name = 'mcp__newer__fills'
    AND EXISTS (SELECT FROM approval p WHERE p.tool_call_id = tool_call.id AND p.state = 'ALLOWED')
    AND agent_id IN (SELECT id FROM agent WHERE lease_until < clock_timestamp())`,
};

function from(change: Change, state: string): Change {
  const { transitions = [] } = change;
  return { ...change, transitions: transitions.map((each) => Object.assign({}, each, { from: state })) };
}

function withChange(values: readonly unknown[], change: Change): readonly unknown[] {
  return values.with(CHANGE, JSON.stringify(change));
}
