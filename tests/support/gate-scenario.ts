import fc from "fast-check";

/** The tools of the trial: whether each changes something, may run twice, and may be given an earlier result. */
export const TOOLS = [
  { name: "looks", readOnly: true, idempotent: true, cacheable: false },
  { name: "counts", readOnly: true, idempotent: false, cacheable: false },
  { name: "recalls", readOnly: true, idempotent: false, cacheable: true },
  { name: "sets", readOnly: false, idempotent: true, cacheable: false },
  { name: "adds", readOnly: false, idempotent: false, cacheable: false },
] as const;
/** One of them. */
export type ToolName = (typeof TOOLS)[number]["name"];

/** The deeds of a hook of the template. `once` lets the first of an agent's calls of the same through, and denies those after it. */
export const HOOKS = ["none", "ask", "deny", "input", "result", "once"] as const;
/** One of these. */
export type HookName = (typeof HOOKS)[number];

/** The request of a model for one call, of a tool of the trial or for a shell in the background. A hook of the template does what it says. */
export type AskedCall =
  | { readonly tool: ToolName; readonly input: { readonly n: number; readonly hook: HookName; readonly deep?: object } }
  | { readonly tool: "bash_run"; readonly input: { readonly env: { readonly NAME: string; readonly HOOK: HookName } } };

/** The answers of a person who is asked. */
export const ANSWERS = ["allow", "edit", "deny", "interrupt"] as const;
/** One of these. */
export type PersonsAnswer = (typeof ANSWERS)[number];

/** The life of one agent. */
export type Scenario = {
  /** The template, by its place among the generated ones. */
  readonly template: number;
  /** The calls of each step of the model, which go together. */
  readonly steps: readonly (readonly AskedCall[])[];
  /** The answers of people, in turn; then they allow. */
  readonly answers: readonly PersonsAnswer[];
  /** The number of the effect in which the server dies; null for none. */
  readonly diesIn: number | null;
  /** The deed after the agent's turn has ended. */
  readonly after: "nothing" | "retry" | "fork";
};

const names = fc.constantFrom(...TOOLS.map(({ name }) => name));
const n = fc.integer({ min: 0, max: 3 });

const hook = fc.oneof(
  { weight: 5, arbitrary: fc.constant("none" as const) },
  { weight: 4, arbitrary: fc.constantFrom(...HOOKS.slice(1)) },
);

const shell: fc.Arbitrary<AskedCall> = fc.record({
  tool: fc.constant("bash_run" as const),
  input: fc.record({ env: fc.record({ NAME: fc.uuid(), HOOK: hook }) }),
});

const ownCall: fc.Arbitrary<AskedCall> = fc.record({
  tool: names,
  input: fc.record(
    {
      n,
      hook,
      deep: fc.record({ ä: fc.string(), list: fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { maxLength: 3 }) }),
    },
    { requiredKeys: ["n", "hook"] },
  ),
});

const call = fc.oneof({ weight: 9, arbitrary: ownCall }, { weight: 1, arbitrary: shell });

/** The ways of an agent through its turn. */
export function scenarios(templates: number): fc.Arbitrary<Scenario> {
  return fc.record({
    template: fc.nat(templates - 1),
    steps: fc.array(fc.array(call, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 }),
    answers: fc.array(fc.constantFrom(...ANSWERS), { maxLength: 4 }),
    diesIn: fc.option(fc.integer({ min: 1, max: 4 }), { freq: 2, nil: null }),
    after: fc.constantFrom("nothing" as const, "retry" as const, "fork" as const),
  });
}

const rule = fc.oneof(
  names,
  fc.constant("bash_run"),
  fc.record({ name: names, value: n }).map(({ name, value }) => `${name}(n:${value})`),
);
const rules = fc.array(rule, { maxLength: 2 });

/** The permissions of a template. */
export const permissions = fc.record({
  mode: fc.constantFrom("auto" as const, "approval" as const, "readonly" as const, "default" as const),
  deny: fc.oneof(fc.constant([] as string[]), rules),
  allow: rules,
  ask: rules,
});
