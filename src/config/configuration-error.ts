import { ScriptError } from "../agent/models/script.ts";

/** An environment variable or a field of the configuration is invalid; the message names it and its valid form. */
export class ConfigurationError extends Error {
  override readonly name = "ConfigurationError";
}

type Whole<Values> = { readonly [Name in keyof Values]: Exclude<Values[Name], null> };

/** Collects the problems of a configuration, so that an operator sees all of them. */
export class Problems {
  readonly #messages: string[] = [];

  of<Value>(make: () => Value): Value | null {
    try {
      return make();
    } catch (error) {
      this.#keep(error);
      return null;
    }
  }

  async ofLater<Value>(make: () => Promise<Value>): Promise<Value | null> {
    try {
      return await make();
    } catch (error) {
      this.#keep(error);
      return null;
    }
  }

  /** The values without null. Throws ConfigurationError with every problem, a line each, if there is one. */
  none<Values extends object>(values: Values): Whole<Values> {
    if (this.#messages.length > 0) throw new ConfigurationError([...new Set(this.#messages)].join("\n"));
    return values as Whole<Values>;
  }

  #keep(error: unknown): void {
    if (!(error instanceof ConfigurationError || error instanceof ScriptError)) throw error;
    this.#messages.push(...error.message.split("\n"));
  }
}
