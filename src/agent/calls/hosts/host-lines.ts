import type { ApprovalState } from "../../../db/generated/enums.ts";
import { hostText, type Host } from "../../policy/hosts/host-rule.ts";
import type { RefusedHosts } from "./call-hosts.ts";
import { shellNames, type ShellName } from "../shells/rows.ts";
import type { HostQuestion } from "./host-question.ts";

export function outputWith(output: string, lines: readonly string[]): string {
  if (lines.length === 0) return output;
  return [...(output === "" ? [] : [output.endsWith("\n") ? output : `${output}\n`]), ...lines].join("\n");
}

export function answerLine(question: HostQuestion): string | null {
  return askedLine(question, []);
}

/** The answer to a question that calls ask, or programs of the background shells `shells`; null while it is open. */
export function askedLine(question: Omit<HostQuestion, "approvalId">, shells: readonly ShellName[]): string | null {
  const answer = answerOf(question.state, question.note);
  return answer === null ? null : refusedLine(question, answer, shells);
}

export function unaskedLines({ allowedSince, leftOut }: RefusedHosts): readonly string[] {
  return [
    ...allowedSince.map((host) => refusedLine(host, ALLOWED)),
    ...(leftOut === 0
      ? []
      : [`[Connections to ${leftOut} more hosts were refused. Nobody is asked about them: use fewer hosts in one call.]`]),
  ];
}

const ALLOWED = "It is allowed now: run it again.";

function refusedLine(host: Host, answer: string, shells: readonly ShellName[] = []): string {
  const of = shells.length === 0 ? "" : `of ${shellNames(shells)} `;
  return `[The connection ${of}to ${hostText(host)} was refused. ${answer}]`;
}

function answerOf(state: ApprovalState, note: string | null): string | null {
  switch (state) {
    case "PENDING":
      return null;
    case "ALLOWED":
    case "RESOLVED":
      return ALLOWED;
    case "DENIED":
      return note === null ? "A person denied it." : `A person denied it: ${note}`;
    case "EXPIRED":
      return "Nobody answered whether it may be reached.";
    case "SEALED":
    case "STALE":
      return "The turn ended before anybody answered whether it may be reached.";
  }
}
