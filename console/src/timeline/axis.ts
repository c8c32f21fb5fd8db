import type { Lane, Span } from "./lanes.ts";

/** Nothing happens for longer: the axis leaves the time out; ms. */
const IDLE_MS = 10_000;
/** The width of a time that is left out; px. */
const GAP_PX = 20;
/** The least distance of two times that are written; px. */
const TICK_PX = 96;

/** A time in which something happens, and its place. */
type Stretch = { readonly from: number; readonly to: number; readonly x: number };

/** Times in ms and their places in px. Long times in which nothing happens are left out. */
export type Axis = {
  readonly width: number;
  readonly at: (time: number) => number;
  readonly gaps: readonly { readonly x: number; readonly ms: number }[];
  readonly ticks: readonly { readonly x: number; readonly time: number }[];
};

/** The axis of lanes. It is `width` px wide, or wider if many times are left out. */
export function axisOf(lanes: readonly Lane[], now: number, width: number): Axis {
  const busy = merged(lanes.flatMap(({ spans }) => spans.map(({ from, to }) => [from, Math.max(from, to ?? now)] as const)));
  const [first] = busy;
  const begin = first?.[0] ?? now;
  const gapPx = GAP_PX * Math.max(0, busy.length - 1);
  const busyPx = Math.max(width - gapPx, width / 2);
  const busyMs = busy.reduce((sum, [from, to]) => sum + to - from, 0);
  const pxOfMs = busyMs === 0 ? 0 : busyPx / busyMs;
  const stretches: Stretch[] = [];
  const gaps: { x: number; ms: number }[] = [];
  let x = 0;
  for (const [from, to] of busy) {
    const before = stretches.at(-1);
    if (before !== undefined) {
      gaps.push({ x, ms: from - before.to });
      x += GAP_PX;
    }
    stretches.push({ from, to, x });
    x += (to - from) * pxOfMs;
  }
  const at = (time: number): number => {
    const { from, to, x: start } = stretchAt(stretches, time) ?? { from: begin, to: begin, x: 0 };
    return start + (Math.min(Math.max(time, from), to) - from) * pxOfMs;
  };
  return { width: Math.max(width, x), at, gaps, ticks: ticksOf(stretches, pxOfMs) };
}

/** The union of the times, with short breaks in it. */
function merged(times: readonly (readonly [number, number])[]): readonly (readonly [number, number])[] {
  const union: [number, number][] = [];
  for (const [from, to] of times.toSorted((one, other) => one[0] - other[0])) {
    const last = union.at(-1);
    if (last !== undefined && from - last[1] <= IDLE_MS) last[1] = Math.max(last[1], to);
    else union.push([from, to]);
  }
  return union;
}

/** The last stretch that begins at the time or before it. */
function stretchAt(stretches: readonly Stretch[], time: number): Stretch | undefined {
  let low = 0;
  let high = stretches.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((stretches[middle]?.from ?? Infinity) <= time) low = middle;
    else high = middle - 1;
  }
  return stretches[low];
}

function ticksOf(stretches: readonly Stretch[], pxOfMs: number): Axis["ticks"] {
  const ticks: { x: number; time: number }[] = [];
  for (const { from, to, x } of stretches) {
    const length = (to - from) * pxOfMs;
    for (let offset = 0; offset === 0 || offset <= length - TICK_PX; offset += TICK_PX) {
      const last = ticks.at(-1);
      if (last !== undefined && x + offset - last.x < TICK_PX) continue;
      ticks.push({ x: x + offset, time: from + (pxOfMs === 0 ? 0 : offset / pxOfMs) });
    }
  }
  return ticks;
}

/** The least width of a drawn span; px. */
const LEAST_PX = 2;

/** The spans as one path in a band of the lane: those that touch are drawn as one. */
export function pathOf(spans: readonly Span[], { at }: Axis, now: number, top: number, height: number): string {
  const bars: [number, number][] = [];
  for (const { from, to } of spans) {
    const start = at(from);
    const end = Math.max(at(to ?? now), start + LEAST_PX);
    const last = bars.at(-1);
    if (last !== undefined && start <= last[1] && start >= last[0]) last[1] = Math.max(last[1], end);
    else bars.push([start, end]);
  }
  return bars.map(([start, end]) => `M${round(start)} ${top}h${round(end - start)}v${height}H${round(start)}z`).join("");
}

function round(px: number): number {
  return Math.round(px * 10) / 10;
}

/** The span of a lane that is nearest to a place; null for a lane without any. */
export function spanNear(spans: readonly Span[], { at }: Axis, now: number, x: number): Span | null {
  let nearest: Span | null = null;
  let least = Infinity;
  for (const span of spans) {
    const start = at(span.from);
    const end = Math.max(at(span.to ?? now), start + LEAST_PX);
    const distance = x < start ? start - x : x > end ? x - end : 0;
    // Of those at the place, the shortest counts: a wait lies within its call.
    const rank = distance * 1_000 + (end - start) / 1_000;
    if (rank >= least) continue;
    least = rank;
    nearest = span;
  }
  return nearest;
}
