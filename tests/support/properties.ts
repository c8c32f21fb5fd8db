import fc from "fast-check";

/**
 * An asynchronous property ends at its first failure. Its cases may keep servers and connections until the test ends, and
 * further cases, which make the failure smaller, would use up those of other files. Synchronous properties do make theirs smaller.
 */
const endingAtFailure: fc.Plugin<unknown> = () => {
  let hasFailed = false;
  return {
    decorateRun: (run) => (value) => {
      if (hasFailed) return Promise.resolve(null);
      const outcome = run(value);
      if (!(outcome instanceof Promise)) return outcome;
      return outcome.then((failure) => {
        hasFailed = failure !== null && !fc.PreconditionFailure.isFailure(failure);
        return failure;
      });
    },
  };
};

// Files of one worker share fast-check.
const installed = Symbol.for("triplane.endingAtFailure");
if (!Reflect.has(globalThis, installed)) {
  Reflect.set(globalThis, installed, true);
  fc.installGlobalPlugin(endingAtFailure);
}
