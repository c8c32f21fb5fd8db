import type { ExecutionResult } from "graphql";
import { isAsyncIterable, type Plugin } from "graphql-yoga";

/**
 * Ends a subscription after a page that could not be answered as a whole. Going on would skip that page silently: the
 * client has no cursor of it, and would take the next one for its continuation (invariant 2).
 */
export function endAfterFailure(): Plugin {
  return {
    onSubscribe({ subscribeFn, setSubscribeFn }) {
      setSubscribeFn(async (args: Parameters<typeof subscribeFn>[0]) => {
        const answer: unknown = await subscribeFn(args);
        return isAsyncIterable<ExecutionResult>(answer) ? untilFailure(answer[Symbol.asyncIterator]()) : answer;
      });
    },
  };
}

/** `return()` goes straight to the source, since a generator that waits would not hear it. */
function untilFailure(source: AsyncIterator<ExecutionResult>): AsyncIterableIterator<ExecutionResult> {
  let hasFailed = false;
  return {
    async next() {
      if (hasFailed) return { done: true, value: undefined };
      const result = await source.next();
      if (result.done === true || (result.value.data !== null && result.value.data !== undefined)) return result;
      hasFailed = true;
      await source.return?.();
      return result;
    },
    async return() {
      await source.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
