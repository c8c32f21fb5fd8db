import { Registry } from "prom-client";
import { expect, it, onTestFinished, vi } from "vitest";
import { measureEventLoop } from "../../src/telemetry/event-loop.ts";
import type { LogFields } from "../../src/telemetry/log.ts";

it("a server that stood still logs for how long, once", async () => {
  const told: { readonly event: string; readonly fields: LogFields | undefined }[] = [];
  const clock = { ms: 0 };
  const now = vi.spyOn(performance, "now").mockImplementation(() => clock.ms);
  onTestFinished(() => now.mockRestore());
  const logger = { tell: (event: string, _message: string, fields?: LogFields) => void told.push({ event, fields }) };
  onTestFinished(measureEventLoop(new Registry(), logger));
  clock.ms = 70_100;
  await vi.waitFor(() => expect(told).toEqual([{ event: "stalled", fields: { durationMs: 70_000 } }]));
  const looks = now.mock.calls.length;
  clock.ms += 100;
  await vi.waitFor(() => expect(now.mock.calls.length).toBeGreaterThan(looks + 1));
  expect(told).toHaveLength(1);
});
