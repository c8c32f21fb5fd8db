import { useVirtualizer } from "@tanstack/react-virtual";
import { useLingui } from "@lingui/react/macro";
import { visible } from "@triplane/client/command-lines";
import { memo, useEffect, useId, useMemo, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import { durationText } from "../design/time.ts";
import { axisOf, pathOf, spanNear, type Axis } from "./axis.ts";
import type { Lane, Span } from "./lanes.ts";
import { tickText, useTimelineWords } from "./words.ts";

const ROW_PX = 30;
const HEAD_PX = 22;
const OVERSCAN = 6;
/** The least width of the chart; px. */
const LEAST_PX = 240;

/** The bands of a lane: steps, calls, and waits below each other. */
const BANDS = { step: [4, 6], call: [12, 8], wait: [22, 4] } as const satisfies Partial<
  Record<Span["kind"], readonly [number, number]>
>;

/** The lanes over one axis. Only lanes near the view are in the document, each of them as a few paths. */
export function LaneChart({
  lanes,
  now,
  zoom,
  place,
  span,
  choose,
  onKeyDown,
}: {
  readonly lanes: readonly Lane[];
  readonly now: number;
  readonly zoom: number;
  /** The chosen lane. */
  readonly place: number;
  readonly span: Span | null;
  readonly choose: (lane: Lane, span: Span | null) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}): ReactNode {
  const { t, i18n } = useLingui();
  const words = useTimelineWords();
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const { width: shownPx, labels } = useWidths(scroller);
  const axis = useMemo(
    () => axisOf(lanes, now, Math.max(shownPx - labels, LEAST_PX) * zoom),
    [lanes, now, shownPx, labels, zoom],
  );
  const virtual = useVirtualizer({
    count: lanes.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
    scrollMargin: HEAD_PX,
    getItemKey: (index) => lanes[index]?.agentId ?? index,
  });
  useEffect(() => virtual.scrollToIndex(place, { align: "auto" }), [place]);
  const left = span === null ? null : axis.at(span.from);
  useEffect(() => {
    const element = scroller.current;
    if (element === null || left === null) return;
    const room = element.clientWidth - labels;
    if (left < element.scrollLeft || left > element.scrollLeft + room - 24) element.scrollLeft = Math.max(0, left - room / 3);
    // The axis moves each second: only another span is brought into view.
  }, [span?.key, zoom]);
  return (
    <div
      ref={scroller}
      className="lanes"
      role="listbox"
      tabIndex={0}
      aria-label={t`Timeline of the agents`}
      aria-activedescendant={`${id}-${place}`}
      onKeyDown={onKeyDown}
    >
      <div className="lanes-inner" style={{ width: axis.width + labels, height: virtual.getTotalSize() + HEAD_PX }} role="none">
        <Ticks axis={axis} locale={i18n.locale} />
        {virtual.getVirtualItems().map(({ index, start, key }) => {
          const lane = lanes[index];
          if (lane === undefined) return null;
          const isChosen = index === place;
          return (
            <div
              key={key}
              id={`${id}-${index}`}
              role="option"
              aria-selected={isChosen}
              aria-setsize={lanes.length}
              aria-posinset={index + 1}
              aria-label={visible(words.lane(lane))}
              className={`lane${isChosen ? " chosen" : ""}`}
              style={{ transform: `translateY(${start}px)` }}
              onClick={({ clientX, currentTarget }) =>
                choose(lane, spanNear(lane.spans, axis, now, clientX - currentTarget.getBoundingClientRect().left - labels))
              }
            >
              <span className="lane-name">
                <span className={`indent depth-${Math.min(lane.depth, 8)}`} />
                <span className={`dot ${toneOf(lane)}`} />
                {visible(lane.templateId ?? "…")} <span className="quiet">{visible(lane.description)}</span>
              </span>
              <Bars lane={lane} axis={axis} now={now} />
              {isChosen && span !== null ? <Mark span={span} axis={axis} now={now} labels={labels} /> : null}
            </div>
          );
        })}
      </div>
    </div>
  );
}

function toneOf({ state, outcome }: Lane): string {
  if (state === "WORKING") return "works";
  if (state === "PAUSED") return "waits";
  return outcome === "ERROR" ? "bad" : "";
}

const Bars = memo(function Bars({
  lane: { spans },
  axis,
  now,
}: {
  readonly lane: Lane;
  readonly axis: Axis;
  readonly now: number;
}): ReactNode {
  const of = (kind: Span["kind"], hasFailed = false): readonly Span[] =>
    spans.filter((span) => span.kind === kind && span.hasFailed === hasFailed);
  const draw = (name: string, shown: readonly Span[], [top, height]: readonly [number, number]): ReactNode =>
    shown.length === 0 ? null : <path className={name} d={pathOf(shown, axis, now, top, height)} />;
  return (
    <svg className="bars" width={axis.width} height={ROW_PX} aria-hidden>
      {draw("message", of("message"), [1, ROW_PX - 2])}
      {draw("step", of("step"), BANDS.step)}
      {draw("call", of("call"), BANDS.call)}
      {draw("bad", of("call", true), BANDS.call)}
      {draw("wait", of("wait"), BANDS.wait)}
      {draw("bad", of("error", true), [1, ROW_PX - 2])}
    </svg>
  );
});

/** A frame around the chosen span. */
function Mark({
  span,
  axis,
  now,
  labels,
}: {
  readonly span: Span;
  readonly axis: Axis;
  readonly now: number;
  readonly labels: number;
}): ReactNode {
  const from = axis.at(span.from);
  const width = Math.max(axis.at(span.to ?? now) - from, 2) + 4;
  return <span className="lane-mark" style={{ left: labels + from - 2, width }} />;
}

function Ticks({ axis: { ticks, gaps }, locale }: { readonly axis: Axis; readonly locale: string }): ReactNode {
  return (
    <div className="ticks" aria-hidden>
      {ticks.map(({ x, time }) => (
        <span key={x} className="tick" style={{ left: x }}>
          {tickText(time, locale)}
        </span>
      ))}
      {gaps.map(({ x, ms }) => (
        <span key={x} className="gap" style={{ left: x }} title={durationText(ms)} />
      ))}
    </div>
  );
}

/** The width of the view, and of the names in it. */
function useWidths(element: { readonly current: HTMLElement | null }): { readonly width: number; readonly labels: number } {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const { current } = element;
    if (current === null) return;
    const observer = new ResizeObserver(() => setWidth(current.clientWidth));
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  return { width, labels: width < 600 ? 112 : 220 };
}
