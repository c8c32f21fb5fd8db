import { I18n, type MessageDescriptor, type MessageOptions } from "@lingui/core";

type Values = Readonly<Record<string, unknown>>;

/**
 * The texts of the console. Lingui takes `\u202e` in a finished text for an escape, also where a value has it: a character that
 * stands as its escape would hide again. Here values stay as they are.
 */
class Messages extends I18n {
  override _(id: MessageDescriptor | string, values?: Values, options?: MessageOptions): string {
    return typeof id === "string"
      ? super._(id, literal(values ?? {}), options)
      : super._({ ...id, values: literal(id.values ?? values ?? {}) });
  }
}

export const i18n = new Messages({});

/** A backslash before `u` and `x` becomes the one escape that Lingui turns into a backslash. */
function literal(values: Values): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === "string" ? value.replaceAll(/\\(?=[ux])/g, "\\u005c") : value,
    ]),
  );
}
