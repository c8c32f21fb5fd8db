import { Type, type Static, type TObject, type TOptional, type TProperties, type TSchema } from "typebox";

export type Defaulted<Schema extends TSchema, Value> = ReturnType<typeof Type.Optional<Schema>> & { readonly default: Value };

export type Written<Settings extends TProperties> = Readonly<Static<TObject<Settings>>>;

export type Complete<Settings extends TProperties> = {
  readonly [Name in keyof Settings]: Settings[Name] extends { readonly default: infer Value }
    ? Static<Settings[Name]> | Extract<Value, null>
    : Static<Settings[Name]> | (Settings[Name] extends TOptional<Settings[Name]> ? undefined : never);
};

/** A setting that may be omitted, and its default; null stands for none. */
export function withDefault<Schema extends TSchema, const Value extends Static<Schema> | null>(
  schema: Schema,
  value: Value,
): Defaulted<Schema, Value> {
  return Object.assign(Type.Optional(schema), { default: value });
}

export function complete<Settings extends TProperties>(settings: Settings, written: Written<Settings>): Complete<Settings> {
  const given: Readonly<Record<string, unknown>> = written;
  const values = Object.entries(settings).map(([name, schema]) => [
    name,
    given[name] ?? ("default" in schema ? schema.default : undefined),
  ]);
  return Object.fromEntries(values) as Complete<Settings>;
}

export function closed<Settings extends TProperties>(settings: Settings): TObject<Settings> {
  return Type.Object(settings, { additionalProperties: false });
}

export function ownCode<Code>() {
  return Type.Unsafe<Code>({ isFunction: true });
}

export const TEXT = Type.String({ minLength: 1 });

export const TEXTS = Type.Immutable(Type.Array(TEXT));

export const COUNT = Type.Integer({ minimum: 1 });

export function milliseconds(maximum: number) {
  return Type.Integer({ minimum: 1, maximum });
}

const NAME = Type.String({ pattern: "^[A-Za-z0-9_-]{1,64}$", problem: "must be 1 to 64 letters, digits, _ or -" });

export function named<Schema extends TSchema>(value: Schema, minProperties: number, names: TSchema = NAME) {
  return Type.Unsafe<Readonly<Record<string, Static<Schema>>>>({
    type: "object",
    minProperties,
    propertyNames: names,
    additionalProperties: value,
  });
}
