import type { FormField as Field, FormOption as Option, ToolQuestion as Question } from "../../events/tool-question.ts";
import type { Json } from "../../lib/json.ts";
import { builder } from "../builder.ts";
import { FormFieldKind, FormFormat } from "../enums.ts";

const FormOption = builder.objectRef<Option>("FormOption").implement({
  description: "An option of a field.",
  fields: (t) => ({
    value: t.exposeString("value", { description: "Value that is given for the option." }),
    title: t.exposeString("title", { description: "Text for people, with invisible characters as escapes." }),
  }),
});

/** A property that only some kinds of fields have. */
function partOf<Name extends string>(field: Field, name: Name): Extract<Field, Record<Name, unknown>>[Name] | null {
  return name in field ? (field as Extract<Field, Record<Name, unknown>>)[name] : null;
}

const FormField = builder.objectRef<Field>("FormField").implement({
  description: "A field of a flat form. Bounds are null if there are none, or if its kind has none.",
  fields: (t) => ({
    name: t.exposeString("name", { description: "Name of the field in `values`." }),
    kind: t.expose("kind", { type: FormFieldKind, description: "Kind of value." }),
    title: t.exposeString("title", { nullable: true, description: "Label for people. Null if the name is the label." }),
    description: t.exposeString("description", { nullable: true, description: "Explanation for people. Null if there is none." }),
    isRequired: t.exposeBoolean("isRequired", { description: "True if a value must be given, or is the default." }),
    default: t.field({
      type: "JSON",
      nullable: true,
      description: "Value of a field that is left out. Null if there is none.",
      resolve: (field) => field.default as Json,
    }),
    format: t.field({
      type: FormFormat,
      nullable: true,
      description: "Format of a text.",
      resolve: (field) => partOf(field, "format"),
    }),
    minLength: t.int({
      nullable: true,
      description: "Least number of characters of a text.",
      resolve: (field) => partOf(field, "minLength"),
    }),
    maxLength: t.int({
      nullable: true,
      description: "Greatest number of characters of a text. 16,000 if null.",
      resolve: (field) => partOf(field, "maxLength"),
    }),
    minimum: t.float({ nullable: true, description: "Least number.", resolve: (field) => partOf(field, "minimum") }),
    maximum: t.float({ nullable: true, description: "Greatest number.", resolve: (field) => partOf(field, "maximum") }),
    options: t.field({
      type: [FormOption],
      complexity: { field: 0, multiplier: 1 },
      description: "Options of a CHOICE or of CHOICES, at most 200. Empty for other kinds.",
      resolve: (field) => [...(partOf(field, "options") ?? [])],
    }),
    minItems: t.int({
      nullable: true,
      description: "Least number of chosen options.",
      resolve: (field) => partOf(field, "minItems"),
    }),
    maxItems: t.int({
      nullable: true,
      description: "Greatest number of chosen options.",
      resolve: (field) => partOf(field, "maxItems"),
    }),
  }),
});

export const ToolQuestion = builder.objectRef<Question>("ToolQuestion").implement({
  description: "A question of a tool to a person, with a flat form. The answer is given to the tool, and grants no rights.",
  fields: (t) => ({
    server: t.exposeString("server", { description: "MCP server that asks." }),
    message: t.exposeString("message", { description: "The question, with invisible characters as escapes." }),
    fields: t.field({
      type: [FormField],
      complexity: { field: 0, multiplier: 1 },
      description: "Fields of the form, at most 50. Empty if only a yes or a no is asked for.",
      resolve: ({ fields }) => [...fields],
    }),
  }),
});
