/** The formats that a text of a form may have. */
export const FORM_FORMATS = ["email", "uri", "date", "date-time"] as const;
export type FormFormat = (typeof FORM_FORMATS)[number];

export const FORM_FIELD_KINDS = ["TEXT", "NUMBER", "INTEGER", "BOOLEAN", "CHOICE", "CHOICES"] as const;

export type FormOption = { readonly value: string; readonly title: string };

type Common = {
  /** The name by which its value is given. */
  readonly name: string;
  readonly title: string | null;
  readonly description: string | null;
  readonly isRequired: boolean;
};

/** A field of a flat form. Bounds and defaults are null if there are none. Lengths are in characters. */
export type FormField = Common &
  (
    | {
        readonly kind: "TEXT";
        readonly minLength: number | null;
        readonly maxLength: number | null;
        readonly format: FormFormat | null;
        readonly default: string | null;
      }
    | {
        readonly kind: "NUMBER" | "INTEGER";
        readonly minimum: number | null;
        readonly maximum: number | null;
        readonly default: number | null;
      }
    | { readonly kind: "BOOLEAN"; readonly default: boolean | null }
    | { readonly kind: "CHOICE"; readonly options: readonly FormOption[]; readonly default: string | null }
    | {
        readonly kind: "CHOICES";
        readonly options: readonly FormOption[];
        readonly minItems: number | null;
        readonly maxItems: number | null;
        readonly default: readonly string[] | null;
      }
  );

/** A question of a tool to a person, with its form. Invisible characters of its texts are escaped. */
export type ToolQuestion = {
  /** The MCP server that asks. */
  readonly server: string;
  readonly message: string;
  readonly fields: readonly FormField[];
};
