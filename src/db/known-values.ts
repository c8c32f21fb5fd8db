import {
  ActorKind,
  AgentState,
  ApprovalDecision,
  ApprovalKind,
  ApprovalState,
  Breakpoint,
  MessageKind,
  StepState,
  ToolCallState,
} from "./generated/enums.ts";

type Known = {
  readonly columns: Readonly<Record<string, { readonly values: Readonly<Record<string, string>>; readonly nullable?: true }>>;
  readonly lists: Readonly<Record<string, string>>;
  /** With a `?` at the end if it may be null. */
  readonly rows: Readonly<Record<string, string>>;
};

const KNOWN: Readonly<Record<string, Known>> = {
  Agent: {
    columns: { state: { values: AgentState }, breakpoint: { values: Breakpoint }, createdByKind: { values: ActorKind } },
    lists: { steps: "Step", messages: "Message", toolCalls: "ToolCall", approvals: "Approval" },
    rows: {},
  },
  Step: { columns: { state: { values: StepState } }, lists: {}, rows: { agent: "Agent" } },
  Message: {
    columns: { kind: { values: MessageKind }, createdByKind: { values: ActorKind, nullable: true } },
    lists: {},
    rows: { agent: "Agent" },
  },
  ToolCall: { columns: { state: { values: ToolCallState } }, lists: { approvals: "Approval" }, rows: { agent: "Agent" } },
  Approval: {
    columns: { kind: { values: ApprovalKind }, state: { values: ApprovalState } },
    lists: { decisions: "Decision" },
    rows: { agent: "Agent", toolCall: "ToolCall?" },
  },
  Decision: {
    columns: { decision: { values: ApprovalDecision }, actorKind: { values: ActorKind } },
    lists: {},
    rows: { approval: "Approval" },
  },
};

type Query = Readonly<Record<string, unknown>>;

export function isUnknownValue(error: unknown): boolean {
  return error instanceof Error && /not found in enum/.test(error.message);
}

/** Adds the condition that all values are known, also in related rows: unknown ones are left out of lists, and null by id. */
export function onlyKnown(model: string, args: Query): Query {
  const known = KNOWN[model];
  if (known === undefined) return args;
  const { where, ...rest } = nested(known, args);
  return { ...rest, where: { ...(where as object | undefined), AND: [...and(where), ...conditions(known, args)] } };
}

function and(where: unknown): readonly unknown[] {
  const given = (where as { AND?: unknown } | undefined)?.AND;
  return given === undefined ? [] : Array.isArray(given) ? given : [given];
}

function conditions(known: Known, args: Query): readonly object[] {
  const own = Object.entries(known.columns).map(([column, { values, nullable }]) => {
    const isKnown = { [column]: { in: Object.values(values) } };
    return nullable === true ? { OR: [{ [column]: null }, isKnown] } : isKnown;
  });
  const read = Object.entries(known.rows).flatMap(([relation, of]) => {
    const asked = askedFor(args, relation);
    const its = KNOWN[of.replace("?", "")];
    if (asked === null || its === undefined) return [];
    const isKnown = { [relation]: { is: { AND: conditions(its, asked) } } };
    return [of.endsWith("?") ? { OR: [{ [relation]: { is: null } }, isKnown] } : isKnown];
  });
  return [...own, ...read];
}

function askedFor(args: Query, relation: string): Query | null {
  for (const part of ["include", "select"]) {
    const asked = (args[part] as Query | undefined)?.[relation];
    if (asked !== undefined && asked !== false) return asked === true ? {} : (asked as Query);
  }
  return null;
}

function nested(known: Known, args: Query): Query {
  const parts = ["include", "select"].flatMap((part): (readonly [string, unknown])[] => {
    const asked = args[part] as Query | undefined;
    if (asked === undefined) return [];
    const changed = Object.entries(asked).map(([relation, value]) => {
      const list = known.lists[relation];
      const row = known.rows[relation];
      if (value === false || (list === undefined && row === undefined)) return [relation, value];
      const below = value === true ? {} : (value as Query);
      const its = KNOWN[list ?? row?.replace("?", "") ?? ""];
      return [relation, list === undefined ? (its === undefined ? value : orTrue(nested(its, below))) : onlyKnown(list, below)];
    });
    return [[part, Object.fromEntries(changed)]];
  });
  return { ...args, ...Object.fromEntries<unknown>(parts) };
}

function orTrue(args: Query): Query | true {
  return Object.keys(args).length === 0 ? true : args;
}
