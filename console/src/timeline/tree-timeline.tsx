import { Trans, useLingui } from "@lingui/react/macro";
import { Link, useNavigate } from "@tanstack/react-router";
import { useTimeline } from "@triplane/client/urql/react";
import { visible } from "@triplane/client/command-lines";
import { useEffect, useState, type KeyboardEvent, type ReactNode } from "react";
import { presentMs } from "../design/present.ts";
import { tellConnection } from "../session/connection.ts";
import { LaneChart } from "./lane-chart.tsx";
import type { Lane, Span } from "./lanes.ts";
import { SpanTable } from "./span-table.tsx";
import { LANES } from "./view.ts";
import { useTimelineWords, zoneText } from "./words.ts";
import "./timeline.css";

const ZOOMS = [1, 2, 4, 8, 16, 32, 64] as const;

/** What is open grows so often; ms. */
const TICK_MS = 1_000;

/** The agents of a tree over time: a lane each, with its steps, calls and waits. Below it the chosen lane as a table. */
export function TreeTimeline({ agentId }: { readonly agentId: string }): ReactNode {
  const { t, i18n } = useLingui();
  const words = useTimelineWords();
  const navigate = useNavigate();
  const { view, status, error } = useTimeline(agentId, LANES);
  useEffect(() => (status === null ? undefined : tellConnection(status)), [status]);
  const [zoom, setZoom] = useState(0);
  const [chosen, setChosen] = useState<{ readonly agentId: string; readonly key: string | null }>({ agentId, key: null });
  const { lanes } = view;
  const now = useTicking(lanes.some(({ spans }) => spans.at(-1)?.to === null));
  const place = Math.max(
    0,
    lanes.findIndex((lane) => lane.agentId === chosen.agentId),
  );
  const lane = lanes[place];
  const span = lane?.spans.find(({ key }) => key === chosen.key) ?? null;
  const choose = (next: Lane | undefined, to: Span | null = null): void =>
    next === undefined ? undefined : setChosen({ agentId: next.agentId, key: to?.key ?? null });
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || lane === undefined) return;
    const keys: Readonly<Record<string, () => void>> = {
      ArrowDown: () => choose(lanes[place + 1]),
      ArrowUp: () => choose(lanes[place - 1]),
      ArrowRight: () => choose(lane, beside(lane.spans, span, 1)),
      ArrowLeft: () => choose(lane, beside(lane.spans, span, -1)),
      Home: () => choose(lane, inOrder(lane.spans)[0] ?? null),
      End: () => choose(lane, inOrder(lane.spans).at(-1) ?? null),
      "+": () => setZoom(Math.min(zoom + 1, ZOOMS.length - 1)),
      "-": () => setZoom(Math.max(zoom - 1, 0)),
      Enter: () => void navigate({ to: "/agents/$agentId", params: { agentId: lane.agentId }, search: {} }),
    };
    const handle = keys[event.key];
    if (handle === undefined) return;
    event.preventDefault();
    handle();
  };
  if (lanes.length === 0)
    return (
      <div className="timeline">
        {error !== null ? (
          <p role="alert" className="alert">
            {error.message}
          </p>
        ) : view.caughtUp ? (
          <p className="empty">
            <Trans>Nothing has happened yet.</Trans>
          </p>
        ) : (
          <div className="skeleton" role="status" aria-label={t`Loading`} />
        )}
      </div>
    );
  return (
    <div className="timeline">
      <div className="row timeline-head small">
        <button type="button" disabled={zoom === 0} onClick={() => setZoom(0)}>
          <Trans>All</Trans>
        </button>
        <button
          type="button"
          aria-label={t`Shorter times`}
          disabled={zoom === ZOOMS.length - 1}
          onClick={() => setZoom(zoom + 1)}
        >
          +
        </button>
        <button type="button" aria-label={t`Longer times`} disabled={zoom === 0} onClick={() => setZoom(zoom - 1)}>
          −
        </button>
        <span className="legend step">{words.kinds.step}</span>
        <span className="legend call">{words.kinds.call}</span>
        <span className="legend wait">{words.kinds.wait}</span>
        <span className="legend bad">{t`failed`}</span>
        <span className="quiet">{zoneText(now, i18n.locale)}</span>
      </div>
      {error === null ? null : (
        <p role="alert" className="alert">
          {error.message}
        </p>
      )}
      <LaneChart
        lanes={lanes}
        now={now}
        zoom={ZOOMS[zoom] ?? 1}
        place={place}
        span={span}
        choose={choose}
        onKeyDown={onKeyDown}
      />
      {lane === undefined ? null : (
        <>
          <div className="row small timeline-said">
            <Link to="/agents/$agentId" params={{ agentId: lane.agentId }} search={{}}>
              {lane.templateId ?? t`agent`}
            </Link>
            {/* A ticking duration would be said again each second. */}
            <span role="status">{visible(span === null ? words.lane(lane) : words.span(span, span.to ?? span.from))}</span>
            {span !== null && span.to === null ? <span aria-hidden>{words.span(span, now).split(", ")[2]}</span> : null}
          </div>
          <SpanTable lane={lane} now={now} chosen={span?.key ?? null} />
        </>
      )}
    </div>
  );
}

/** The spans by their begin. */
function inOrder(spans: readonly Span[]): readonly Span[] {
  return spans.toSorted((one, other) => one.from - other.from);
}

/** The span that begins before or after another one; the first or last without one. */
function beside(spans: readonly Span[], span: Span | null, step: 1 | -1): Span | null {
  const ordered = inOrder(spans);
  if (span === null) return (step > 0 ? ordered[0] : ordered.at(-1)) ?? null;
  const place = ordered.indexOf(span) + step;
  return ordered[Math.min(Math.max(place, 0), ordered.length - 1)] ?? null;
}

/** The present time, which moves each second while something goes on. */
function useTicking(isOpen: boolean): number {
  const [now, setNow] = useState(presentMs);
  useEffect(() => {
    if (!isOpen) return;
    setNow(presentMs());
    const timer = setInterval(() => setNow(presentMs()), TICK_MS);
    return () => clearInterval(timer);
  }, [isOpen]);
  return now;
}
