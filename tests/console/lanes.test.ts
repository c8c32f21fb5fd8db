import { describe, expect, it } from "vitest";
import { axisOf, pathOf, spanNear } from "../../console/src/timeline/axis.ts";
import { lanesAfter, NO_LANES, type Lanes, type LanesPage, type Span } from "../../console/src/timeline/lanes.ts";

type LaneEvent = LanesPage["events"][number];

const START = Date.parse("2026-01-01T00:00:00.000Z");
let cursor = 0;

/** An event of an agent, so many ms after the start. */
function event(agentId: string, ms: number, of: object): LaneEvent {
  cursor += 1;
  const timestamp = new Date(START + ms).toISOString();
  return { cursor: String(cursor), timestamp, agent: { id: agentId }, ...of } as LaneEvent;
}

const call = (callId: string, state = "EXECUTING") => ({ call: { callId, name: "bash_run", state } });
const started = (agentId: string, ms: number, callId: string) => event(agentId, ms, { __typename: "ToolStart", ...call(callId) });
const ended = (agentId: string, ms: number, callId: string, state = "COMPLETED") =>
  event(agentId, ms, { __typename: "ToolEnd", ...call(callId, state) });
const spawned = (agentId: string, ms: number, childId: string) =>
  event(agentId, ms, { __typename: "AgentSpawned", childId, templateId: "worker", description: "works" });
const page = (...events: LaneEvent[]): LanesPage => ({ events, cursor: "x", caughtUp: true, outage: null });
const lanesOf = (...events: LaneEvent[]): Lanes => lanesAfter(NO_LANES, page(...events));

describe("the lanes of a tree", () => {
  it("are in the order of the tree, each below the agent that started it", () => {
    const { lanes } = lanesOf(
      event("a", 0, { __typename: "AgentCreated", templateId: "chief" }),
      spawned("a", 1, "b"),
      spawned("a", 2, "c"),
      spawned("b", 3, "d"),
      event("a", 4, { __typename: "AgentReturned", childId: "b", outcome: "OK" }),
    );
    expect(lanes.map(({ agentId, depth, templateId, outcome }) => [agentId, depth, templateId, outcome])).toEqual([
      ["a", 0, "chief", null],
      ["b", 1, "worker", "OK"],
      ["d", 2, "worker", null],
      ["c", 1, "worker", null],
    ]);
  });

  it("have steps, calls and waits with their times, and the failed ones", () => {
    const { lanes } = lanesOf(
      event("a", 5_000, { __typename: "StepComplete", step: 1, durationMs: 2_000 }),
      started("a", 5_000, "one"),
      event("a", 6_000, { __typename: "ToolWaiting", waitsFor: "CHILD", ...call("one", "WAITING") }),
      ended("a", 9_000, "one"),
      started("a", 9_000, "two"),
      ended("a", 9_500, "two", "FAILED"),
      started("a", 9_600, "three"),
    );
    const times = lanes[0]?.spans.map(({ kind, from, to, hasFailed }) => [
      kind,
      from - START,
      to === null ? null : to - START,
      hasFailed,
    ]);
    expect(times).toEqual([
      ["step", 3_000, 5_000, false],
      ["wait", 6_000, 9_000, false],
      ["call", 5_000, 9_000, false],
      ["call", 9_000, 9_500, true],
      ["call", 9_600, null, false],
    ]);
  });

  it("have an approval until it is decided by all, and the question of a host beyond the turn", () => {
    const asked = (approvalId: string, kind: string) =>
      event("a", 0, { __typename: "PermissionRequired", request: { approvalId, kind, host: "example.com", call: null } });
    const decided = (approvalId: string, missingDecisions: number) =>
      event("a", 10, { __typename: "PermissionDecided", approvalId, missingDecisions });
    const open = (lanes: Lanes) => lanes.lanes[0]?.spans.filter(({ to }) => to === null).map(({ key }) => key);
    const before = lanesOf(asked("one", "TOOL_CALL"), asked("two", "NETWORK_HOST"), decided("one", 1));
    expect(open(before)).toEqual(["one", "host two"]);
    expect(open(lanesAfter(before, page(decided("one", 0))))).toEqual(["host two"]);
    const done = lanesAfter(before, page(event("a", 20, { __typename: "Done", reason: "INTERRUPTED" })));
    expect(open(done)).toEqual(["host two"]);
    expect(open(lanesAfter(done, page(decided("two", 0))))).toEqual([]);
  });

  it("are the same in one page or in many, and those without news stay the same objects", () => {
    const events = Array.from({ length: 60 }, (_, index) => {
      const agentId = `agent ${index % 3}`;
      return index < 3
        ? spawned("a", index, agentId)
        : index % 2 === 0
          ? started(agentId, index, `${index}`)
          : ended(agentId, index, `${index - 3}`);
    });
    const whole = lanesOf(...events);
    const parts = events.reduce((lanes, each) => lanesAfter(lanes, page(each)), NO_LANES);
    expect(parts).toEqual(whole);
    const later = lanesAfter(whole, page(started("agent 1", 100, "new")));
    expect(later.lanes.filter((lane, index) => lane === whole.lanes[index])).toHaveLength(3);
  });

  it("have an agent whose begin is no longer kept", () => {
    expect(lanesOf(started("a", 0, "one"), started("old", 0, "two")).lanes.map(({ agentId, depth }) => [agentId, depth])).toEqual(
      [
        ["a", 0],
        ["old", 1],
      ],
    );
  });
});

describe("the axis of lanes", () => {
  const span = (from: number, to: number | null): Span => ({
    kind: "call",
    key: `${from}`,
    name: "x",
    from,
    to,
    hasFailed: false,
  });
  const lane = (...spans: Span[]) => {
    const [made] = lanesOf(started("a", 0, "one")).lanes;
    if (made === undefined) throw new Error("there is no lane");
    return { ...made, spans };
  };

  it("leaves out long times in which nothing happens", () => {
    const { at, gaps, width } = axisOf([lane(span(0, 1_000), span(3_600_000, 3_601_000))], 0, 1_020);
    expect(gaps).toEqual([{ x: 500, ms: 3_599_000 }]);
    expect([0, 1_000, 2_000_000, 3_600_000, 3_601_000].map(at)).toEqual([0, 500, 500, 520, 1_020]);
    expect(width).toBe(1_020);
  });

  it("goes on to now while something is open, and has no length without anything", () => {
    expect(axisOf([lane(span(0, null))], 2_000, 100).at(1_000)).toBe(50);
    expect(axisOf([], 2_000, 100).at(5)).toBe(0);
    expect(axisOf([lane(span(7, 7))], 2_000, 100).at(7)).toBe(0);
  });

  it("is wider than asked if too many times are left out", () => {
    const spans = Array.from({ length: 100 }, (_, index) => span(index * 100_000, index * 100_000 + 1_000));
    const { width, at } = axisOf([lane(...spans)], 0, 500);
    expect(width).toBe(99 * 20 + 250);
    expect(at(99 * 100_000 + 1_000)).toBeCloseTo(width);
  });

  it("draws spans that touch as one", () => {
    const spans = Array.from({ length: 10_000 }, (_, index) => span(index * 10, index * 10 + 9));
    const axis = axisOf([lane(...spans)], 0, 500);
    expect(pathOf(spans, axis, 0, 2, 8).match(/M/g)).toHaveLength(1);
    expect(pathOf([span(0, 0), span(50_000, 50_010)], axis, 0, 2, 8)).toBe("M0 2h2v8H0zM250 2h2v8H250z");
  });

  it("finds the span near a place: of those there, the shortest", () => {
    const spans = [span(0, 10_000), span(2_000, 3_000)];
    const axis = axisOf([lane(...spans)], 0, 100);
    expect(spanNear(spans, axis, 0, 25)).toBe(spans[1]);
    expect(spanNear(spans, axis, 0, 90)).toBe(spans[0]);
    expect(spanNear([], axis, 0, 90)).toBeNull();
  });
});
