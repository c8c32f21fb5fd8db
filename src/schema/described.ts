/** The values of an enum with their descriptions: TypeScript asks for every value of `Name`. */
export function described<Name extends string>(
  descriptions: Readonly<Record<Name, string>>,
): { readonly [Value in Name]: { readonly description: string } } {
  const values = Object.entries<string>(descriptions).map(([name, description]) => [name, { description }]);
  return Object.fromEntries(values) as { readonly [Value in Name]: { readonly description: string } };
}

/** The values of an enum that are written in lower case where they are stored. */
export function describedLower<Name extends string>(
  descriptions: Readonly<Record<Name, string>>,
): { readonly [Value in Name as Uppercase<Value>]: { readonly value: Value; readonly description: string } } {
  const values = Object.entries<string>(descriptions).map(([value, description]) => [
    value.toUpperCase(),
    { value, description },
  ]);
  return Object.fromEntries(values) as {
    readonly [Value in Name as Uppercase<Value>]: { readonly value: Value; readonly description: string };
  };
}
