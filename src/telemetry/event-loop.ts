import { performance } from "node:perf_hooks";
import type { Logger } from "./log.ts";
import { Counter, Histogram, type Registry } from "prom-client";

const LOOK_MS = 100;
/** A longer stall is logged, in ms: other servers take agents over after 15 s. */
const STALL_MS = 5_000;

/**
 * Measures the delay of the event loop, ten times a second. Returns the function that stops it. A separate histogram,
 * since Node's own, as libraries use it, is reset by every reader.
 */
export function measureEventLoop(registry: Registry, logger: Pick<Logger, "tell">): () => void {
  const lag = new Histogram({
    name: "triplane_event_loop_lag_seconds",
    help: "How late the event loop comes to what is due.",
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  const busy: Counter = new Counter({
    name: "triplane_event_loop_busy_seconds_total",
    help: "For how long the event loop had work: its rate is the share of one processor core.",
    registers: [registry],
    collect: () => {
      busy.reset();
      busy.inc(performance.eventLoopUtilization().active / 1_000);
    },
  });
  let due = performance.now() + LOOK_MS;
  const timer = setInterval(() => {
    const now = performance.now();
    lag.observe(Math.max(0, now - due) / 1_000);
    if (now - due > STALL_MS) {
      const durationMs = Math.round(now - due);
      const what = `this server stood still for ${Math.round(durationMs / 1_000)} s: others may have taken its agents over`;
      logger.tell("stalled", what, { durationMs });
    }
    due = now + LOOK_MS;
  }, LOOK_MS).unref();
  return () => clearInterval(timer);
}
