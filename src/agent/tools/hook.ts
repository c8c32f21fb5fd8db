import { currentOwnCode } from "./own-code.ts";
import { aborted } from "../../lib/aborted.ts";

/** `place` in the configuration: `templates.assistant.hooks.preToolUse.0`. */
export type Placed<Hook> = { readonly place: string; readonly run: Hook };

const HOOK_MS = 10_000;

/** The answer of a hook. `place` names it if there are several. Rejects if it throws, takes too long, or `signal` aborts. */
export async function hookAnswer<Answer>(
  hook: () => Answer | Promise<Answer>,
  signal: AbortSignal,
  place?: string,
): Promise<Answer> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(HOOK_MS)]);
  using stopped = aborted(limit, () => new Error(signal.aborted ? "it was stopped" : `it did not answer within ${HOOK_MS} ms`));
  const running = (async () => {
    try {
      return await hook();
    } catch (error) {
      currentOwnCode()?.threw(error, place);
      throw error;
    }
  })();
  return await Promise.race([stopped.promise, running]);
}
