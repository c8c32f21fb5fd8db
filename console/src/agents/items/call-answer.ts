/** The answer to a call, as `completeToolCall` takes it. */
export type Answer = { readonly result: unknown } | { readonly error: string };

/** The result that a text means: JSON, or where the tool takes any result, also the text itself. */
export function resultOfText(text: string, isJson: boolean): { readonly result: unknown } | { readonly broken: string } {
  try {
    return { result: JSON.parse(text) as unknown };
  } catch (error) {
    if (isJson || text.trim() === "") return { broken: error instanceof Error ? error.message : String(error) };
    return { result: text };
  }
}
