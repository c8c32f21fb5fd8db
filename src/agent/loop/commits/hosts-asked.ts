import { askedFor, askHost } from "../../approvals/hosts/ask-host.ts";
import type { CallView } from "../../calls/call.ts";
import type { HostQuestion, OpenHost } from "../../calls/hosts/host-question.ts";
import { byHost, hostText, type Host } from "../../policy/hosts/host-rule.ts";
import { NEEDS } from "../lease.ts";
import type { AgentView } from "../view.ts";
import type { RecordTemplate } from "./calls-judged.ts";
import type { Commit } from "./commit.ts";

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
  return {
    questions,
    commit: {
      change: {
        approvals: requests.map(({ row }) => row),
        hostRequests: questions.map(({ approvalId }) => askedFor(view, id, approvalId, false)),
        agent: { needs: NEEDS.hosts, ...(asked.length === 0 ? {} : { lastActivityAt: at }) },
      },
      events: requests.map(({ event }) => event),
      after: (now) => ({ ...now, openHosts: withQuestions(now.openHosts, questions) }),
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

export function waitsForHosts({ calls }: Pick<AgentView, "calls">): boolean {
  return calls.some(({ hosts }) => hosts.some(({ state }) => state === "PENDING"));
}

export function needsAfter({ calls, shells }: Pick<AgentView, "calls" | "shells">): { readonly needs?: number } {
  if (calls.every(({ hosts }) => hosts.length === 0)) return {};
  return { needs: shells.length > 0 ? NEEDS.shells : NEEDS.nothing };
}
