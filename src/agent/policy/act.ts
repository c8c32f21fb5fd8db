import type { FoundCommand, Trouble } from "../bash/command-line.ts";
import type { Access } from "../workspace/workspace.ts";
import type { Host } from "./hosts/host.ts";
import type { PolicyCall } from "./permission.ts";
import type { NamedLine, RuleValue } from "./rule-values.ts";

/**
 * Something that an agent would do, as far as permissions tell it apart. A call is a list of acts, each with the place of the input from
 * which it comes. Opening a file and connecting to a host are acts of programs and tools that run already.
 */
export type Act =
  /** A call that names no file, search or command. */
  | (OfCall & { readonly kind: "use" })
  | (Carried & { readonly kind: "file"; readonly place: string; readonly file: ValueOf<"file"> })
  | (Carried & { readonly kind: "search"; readonly place: string; readonly search: ValueOf<"search"> })
  | (Carried & {
      readonly kind: "command";
      readonly line: NamedLine;
      readonly command: FoundCommand;
      /** The command that the line runs: itself, or the one in which it was found. Null if it lies in a part that cannot be read. */
      readonly whole: FoundCommand | null;
    })
  | (Carried & {
      readonly kind: "unproven";
      readonly line: NamedLine;
      readonly trouble: Trouble;
      /** True if commands may be in it that are not among the acts. */
      readonly hides: boolean;
    })
  | { readonly kind: "open"; readonly names: readonly string[]; readonly access: Access }
  | { readonly kind: "connect"; readonly host: Host };

export type ActOf<Kind extends Act["kind"]> = Extract<Act, { readonly kind: Kind }>;

export const ACTS_OF_CALLS = ["use", "file", "search", "command", "unproven"] as const;
export type CallAct = ActOf<(typeof ACTS_OF_CALLS)[number]>;

type OfCall = { readonly call: PolicyCall };

/** `isCarried`: another act of the call stands for it, such as the command that runs it. Rules may close it or ask about it, and it asks for nothing itself. */
type Carried = OfCall & { readonly isCarried: boolean };

type ValueOf<Kind extends RuleValue["kind"]> = Extract<RuleValue, { readonly kind: Kind }>;
