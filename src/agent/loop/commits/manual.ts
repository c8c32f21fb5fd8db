import type { NoticeRow, OwnerChange } from "../../../db/commit/change.ts";
import type { AgentEventBody } from "../../../events/event.ts";
import { notice } from "../../calls/notices.ts";
import { changedSections, remembered, type ManualView } from "../../tools/manual-changes.ts";
import { manualOf, type Section } from "../../tools/manual.ts";
import type { AgentView } from "../view.ts";
import { identity, type Reducer } from "./commit.ts";

const NO_MANUAL: ManualView = { digest: null, sections: {}, told: [] };

export type ManualNews = {
  readonly notices: readonly NoticeRow[];
  readonly change: Pick<OwnerChange, "manual" | "agentManual">;
  readonly events: readonly AgentEventBody[];
  readonly after: Reducer;
};

const NO_NEWS: ManualNews = { notices: [], change: {}, events: [], after: identity };

/**
 * The manual that the first step of an agent gives it, or the first step with another version of its template; otherwise
 * the changed sections. Their message has this ordinal.
 */
export function manualNews(view: AgentView, sections: readonly Section[], ordinal: number, at: Date): ManualNews {
  if ((view.stepCount === 0 && view.manual === null) || isFirstOfVersion(view)) return manualGiven(view, sections);
  const step = view.stepCount + 1;
  const manual = view.manual ?? NO_MANUAL;
  const changed = changedSections(manual, sections, step);
  if (changed.length === 0) return NO_NEWS;
  const told = remembered([...manual.told, ...changed.map(({ tool, digest }) => ({ tool, digest, step, ordinal }))]);
  return {
    notices: changed.map(({ tool, text }) => notice(view, { source: "TOOL", ref: tool, text }, at, step)),
    change: { agentManual: { ...rowOf(view, manual.digest), told } },
    events: [{ kind: "TOOL_MANUAL_UPDATED", tools: changed.map(({ tool }) => tool) }],
    after: (now) => ({ ...now, manual: { ...manual, told: [...told] } }),
  };
}

function isFirstOfVersion({ templateVersion, lastStep }: AgentView): boolean {
  return templateVersion !== null && (lastStep?.turn ?? 0) < templateVersion.sinceTurn;
}

function manualGiven(view: AgentView, sections: readonly Section[]): ManualNews {
  const manual = manualOf(sections);
  if (manual === null)
    return view.manual === null
      ? NO_NEWS
      : {
          ...NO_NEWS,
          change: { agentManual: { ...rowOf(view, null), told: [] } },
          after: (now) => ({ ...now, manual: NO_MANUAL }),
        };
  const { digest } = manual;
  const digests = Object.fromEntries(sections.map((section) => [section.tool, section.digest]));
  return {
    ...NO_NEWS,
    change: {
      manual: { ...manual, tenant: view.tenant, sections: digests },
      agentManual: { ...rowOf(view, digest), told: [] },
    },
    after: (now) => ({ ...now, manual: { digest, sections: digests, told: [] } }),
  };
}

function rowOf({ id: agentId, tenant }: AgentView, digest: string | null) {
  return { agentId, tenant, digest };
}
