import { ScriptError } from "../agent/models/script.ts";

/** An environment variable or a field of the configuration is wrong; the message names it and says what it must be. */
export class ConfigurationError extends Error {
  override readonly name = "ConfigurationError";
}

/** The values of an object, none of which is null. */
type Whole<Values> = { readonly [Name in keyof Values]: Exclude<Values[Name], null> };

/** Gathers what is wrong with a configuration, so that an operator reads all of it at once. */
export class Problems {
  readonly #messages: string[] = [];

  /** The value, or null if it cannot be made for a reason that is the operator's to mend. */
  of<Value>(make: () => Value): Value | null {
    try {
      return make();
    } catch (error) {
      this.#keep(error);
      return null;
    }
  }

  /** The same for a value that takes time. */
  async ofLater<Value>(make: () => Promise<Value>): Promise<Value | null> {
    try {
      return await make();
    } catch (error) {
      this.#keep(error);
      return null;
    }
  }

  /** The values, all of which could be made. Throws ConfigurationError with every problem, each in a line, if there is one. */
  none<Values extends object>(values: Values): Whole<Values> {
    if (this.#messages.length > 0) throw new ConfigurationError([...new Set(this.#messages)].join("\n"));
    return values as Whole<Values>;
  }

  #keep(error: unknown): void {
    if (!(error instanceof ConfigurationError || error instanceof ScriptError)) throw error;
    this.#messages.push(...error.message.split("\n"));
  }
}
