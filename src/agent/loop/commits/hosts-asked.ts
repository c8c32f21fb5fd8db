import { askHost } from "../../approvals/hosts/ask-host.ts";
import { waitFor } from "../../approvals/request.ts";
import type { CallView } from "../../calls/call.ts";
import type { HostQuestion, OpenHost } from "../../calls/hosts/host-question.ts";
import { byHost, hostText, type Host } from "../../policy/hosts/host-rule.ts";
import { NEEDS } from "../lease.ts";
import type { AgentView } from "../view.ts";
import type { RecordTemplate } from "./calls-judged.ts";
import { compose, waiting, type Commit } from "./commit.ts";

export type HostsAsked = { readonly questions: readonly HostQuestion[]; readonly commit: Commit };

export function hostsAsked(
  view: AgentView,
  { id, name }: Pick<CallView, "id" | "name">,
  hosts: readonly Host[],
  template: Pick<RecordTemplate, "approvalQuorum" | "approvalExpiresMs">,
  at: Date,
): HostsAsked {
  const open = new Map(view.openHosts.map((question) => [hostText(question), asQuestion(question)]));
  const requests = hosts.flatMap((host) => (open.has(hostText(host)) ? [] : [askHost(view, host, name, template, at)]));
  const asked = requests.map(({ question }) => question);
  const joined = hosts.flatMap((host) => open.get(hostText(host)) ?? []);
  const questions = [...asked, ...joined].toSorted(byHost);
  const due = new Map(requests.map(({ row }) => [row.id, row.expiresAt]));
  const rows = questions.map(({ approvalId: ref }) => waitFor("HOST", view, { callId: id, ref, due: due.get(ref) ?? null }));
  return {
    questions,
    commit: {
      change: {
        approvals: requests.map(({ row }) => row),
        waits: rows,
        agent: { needs: NEEDS.hosts, ...(asked.length === 0 ? {} : { lastActivityAt: at }) },
      },
      events: requests.map(({ event }) => event),
      after: compose(waiting(rows), (now) => ({ ...now, openHosts: withQuestions(now.openHosts, questions) })),
    },
  };
}

function asQuestion({ approvalId, host, port, state, note }: HostQuestion): HostQuestion {
  return { approvalId, host, port, state, note };
}

function withQuestions(open: readonly OpenHost[], questions: readonly HostQuestion[]): readonly OpenHost[] {
  const ofCall = new Set(questions.map(({ approvalId }) => approvalId));
  const others = open.filter(({ approvalId }) => !ofCall.has(approvalId));
  return [...others, ...questions.map((question) => ({ ...question, isOfShells: false }))].toSorted(byHost);
}

export function needsAfter({ calls, shells }: Pick<AgentView, "calls" | "shells">): { readonly needs?: number } {
  if (calls.every(({ hosts }) => hosts.length === 0)) return {};
  return { needs: shells.length > 0 ? NEEDS.shells : NEEDS.nothing };
}
