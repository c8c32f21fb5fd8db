import type { NoticeRow, OwnerChange } from "../../../db/commit/change.ts";
import type { AgentEventBody } from "../../../events/event.ts";
import { toJson } from "../../../lib/json.ts";
import { notice } from "../../calls/notices.ts";
import { offeredList } from "../../tools/bridge.ts";
import { changedDefinitions, changedSections, remembered, type ManualView } from "../../tools/manual/manual-changes.ts";
import { definitionDigest, manualOf, sectionsOf, type Manual } from "../../tools/manual/manual.ts";
import type { Tool } from "../../tools/tool.ts";
import type { AgentView } from "../view.ts";
import { identity, type Reducer } from "./commit.ts";

const NO_MANUAL: ManualView = { digest: null, sections: {}, fixesTools: false, told: [] };

/** The tools that an agent can call at present. */
export type PresentTools = {
  readonly tools: readonly Tool[];
  /** True if others may come later, so that the list is fixed. */
  readonly mayComeLater: boolean;
};

export type ManualNews = {
  readonly notices: readonly NoticeRow[];
  readonly change: Pick<OwnerChange, "manual" | "agentManual">;
  readonly events: readonly AgentEventBody[];
  readonly after: Reducer;
};

const NO_NEWS: ManualNews = { notices: [], change: {}, events: [], after: identity };

/**
 * The manual that the first step of an agent gives it, or the first step with another version of its template; otherwise
 * the changed sections. Their message has this ordinal. An agent that may be given tools later, and whose list is not fixed, is
 * given its manual as well.
 */
export function manualNews(view: AgentView, present: PresentTools, ordinal: number, at: Date): ManualNews {
  const manual = view.manual ?? NO_MANUAL;
  const isFirst = (view.stepCount === 0 && view.manual === null) || isFirstOfVersion(view);
  if (isFirst || (present.mayComeLater && !manual.fixesTools)) return manualGiven(view, present);
  const step = view.stepCount + 1;
  const leftOutTo = view.compaction?.head?.to ?? -1;
  const changed = manual.fixesTools
    ? changedDefinitions(manual, present.tools, step, leftOutTo)
    : changedSections(manual, sectionsOf(present.tools), step, leftOutTo);
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

/** The manual for an agent whose first step it is. */
export function manualFor({ tools, mayComeLater }: PresentTools): Manual | null {
  return manualOf(sectionsOf(tools), mayComeLater ? offeredList(tools) : null);
}

function manualGiven(view: AgentView, present: PresentTools): ManualNews {
  const manual = manualFor(present);
  if (manual === null)
    return view.manual === null
      ? NO_NEWS
      : {
          ...NO_NEWS,
          change: { agentManual: { ...rowOf(view, null), told: [] } },
          after: (now) => ({ ...now, manual: NO_MANUAL }),
        };
  const { digest } = manual;
  const fixesTools = manual.tools !== null;
  const digests = fixesTools
    ? Object.fromEntries(present.tools.map((tool) => [tool.name, definitionDigest(tool)]))
    : Object.fromEntries(sectionsOf(present.tools).map((section) => [section.tool, section.digest]));
  return {
    ...NO_NEWS,
    change: {
      manual: { ...manual, tools: toJson(manual.tools) ?? null, tenant: view.tenant, sections: digests },
      agentManual: { ...rowOf(view, digest), told: [] },
    },
    after: (now) => ({ ...now, manual: { digest, sections: digests, fixesTools, told: [] } }),
  };
}

function rowOf({ id: agentId, tenant }: AgentView, digest: string | null) {
  return { agentId, tenant, digest };
}
