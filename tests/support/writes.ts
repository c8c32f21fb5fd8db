import type { Sql, Statement } from "../../src/db/sql.ts";
import { composedWriteOf, isComposed } from "./composed-writes.ts";
import { namesIn, type SeenChange, type SeenWrite } from "./seen-write.ts";

/** The place of each parameter that is looked at, of the functions that write. */
const APPEND = { agents: 4, epochs: 5, kinds: 8 };
const COMMIT = { agent: 4, epoch: 5, change: 6, kinds: 8 };
const TENANT = { kinds: 5 };

/** The part of a statement that goes into the log; null for statements that write nothing there. */
export function writeOf(statement: Statement, values: readonly unknown[]): SeenWrite | null {
  switch (statement.name) {
    case "append_events":
      return {
        agentIds: values[APPEND.agents] as readonly string[],
        isFenced: (values[APPEND.epochs] as readonly (number | null)[]).some((epoch) => epoch !== null),
        change: null,
        kinds: namesIn(values[APPEND.kinds]),
      };
    case "commit_change":
      return {
        agentIds: [String(values[COMMIT.agent])],
        isFenced: values[COMMIT.epoch] !== null,
        change: JSON.parse(String(values[COMMIT.change])) as SeenChange,
        kinds: namesIn(values[COMMIT.kinds]),
      };
    case "commit_tenant_change":
      return { agentIds: [], isFenced: false, change: null, kinds: namesIn(values[TENANT.kinds]) };
    default:
      return composedWriteOf(statement, values);
  }
}

/** True if the change takes a call to the state. */
export function goesTo(state: string, { transitions = [] }: SeenChange): boolean {
  return transitions.some(({ set }) => set.state === state);
}

/** The database, with something that is done around each write: `write` makes it. */
export function aroundWrites(sql: Sql, around: (seen: SeenWrite, write: () => Promise<unknown[]>) => Promise<unknown[]>): Sql {
  return {
    ...sql,
    query: async <Row>(statement: Statement<Row>, values: readonly unknown[]) => {
      const seen = writeOf(statement, values);
      const write = (): Promise<Row[]> => sql.query<Row>(statement, values);
      return seen === null ? write() : ((await around(seen, write)) as Row[]);
    },
  };
}

/** The database, with something that is done once, just before the first commit of a change that `isIt`. */
export function beforeCommit(sql: Sql, isIt: (change: SeenChange) => boolean, act: () => Promise<unknown>): Sql {
  let isDone = false;
  return aroundWrites(sql, async ({ change }, write) => {
    if (!isDone && change !== null && isIt(change)) {
      isDone = true;
      await act();
    }
    return write();
  });
}

/** Does something before the first commit by which messages of people join their conversation. */
export function beforeJoin(sql: Sql, act: () => Promise<unknown>): Sql {
  return beforeCommit(sql, ({ joins = [] }) => joins.length > 0, act);
}

/** The database, with writes that are not fenced: whatever lease they are made under. */
export function unfenced(sql: Sql): Sql {
  return {
    ...sql,
    query: async <Row>(statement: Statement<Row>, values: readonly unknown[]) => {
      // Refused without a row, it is made by `commit_change`.
      if (isComposed(statement)) return [];
      if (statement.name === "commit_change") return sql.query(statement, values.with(COMMIT.epoch, null));
      if (statement.name !== "append_events") return sql.query(statement, values);
      const epochs = values[APPEND.epochs] as readonly unknown[];
      return sql.query(
        statement,
        values.with(
          APPEND.epochs,
          epochs.map(() => null),
        ),
      );
    },
  };
}
