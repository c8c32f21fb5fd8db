import { noteProblem, type CommandRefusal } from "../actors/refusal.ts";
import type { FoundApproval } from "./approval.ts";
import type { DecideApproval } from "./decision.ts";
import { isOutcomeDecision, RESULT_CHARACTERS } from "./outcome.ts";

/** The problem with a decision on this approval, whatever state the approval is in; null if there is none. */
export function decisionProblem(
  { decision, inputHash, input, note, result }: DecideApproval,
  approval: FoundApproval,
): CommandRefusal | null {
  const tooLong = noteProblem(note);
  if (tooLong !== null) return tooLong;
  if (approval.kind !== "OUTCOME_UNKNOWN" && decision !== "ALLOW" && decision !== "DENY")
    return {
      code: "INVALID",
      field: ["decision"],
      message: "this approval is decided with ALLOW or DENY; DONE, RETRY and FAIL answer an OUTCOME_UNKNOWN",
    };
  if (approval.kind === "OUTCOME_UNKNOWN" && !isOutcomeDecision(decision))
    return {
      code: "INVALID",
      field: ["decision"],
      message: "the call has run, and nobody knows what came of it: say DONE with its result, RETRY to run it again, or FAIL",
    };
  if (decision === "DONE" && (result === null || result.trim() === ""))
    return {
      code: "INVALID",
      field: ["result"],
      message: "DONE needs a result: say in words for the model what came of the call",
    };
  if (result !== null && decision !== "DONE")
    return { code: "INVALID", field: ["result"], message: "a result comes with DONE only" };
  if (result !== null && result.length > RESULT_CHARACTERS)
    return { code: "TOO_LARGE", field: ["result"], message: `a result has at most ${RESULT_CHARACTERS} characters` };
  if ((decision === "ALLOW" || decision === "RETRY") && inputHash === null)
    return {
      code: "INVALID",
      field: ["inputHash"],
      message: `${decision} needs the inputHash of the input that you saw: take it from the approval`,
    };
  if (inputHash !== null && inputHash !== approval.inputHash)
    return {
      code: "HASH_MISMATCH",
      field: ["inputHash"],
      message: "the input is not the one with this hash: look at the approval again and decide on what it shows",
    };
  if (input !== null && approval.kind === "NETWORK_HOST")
    return {
      code: "INVALID",
      field: ["input"],
      message: "a host is allowed or denied as it is asked for: deny it and say in the note which one may be reached",
    };
  if (input !== null && decision !== "ALLOW")
    return {
      code: "INVALID",
      field: ["input"],
      message: "another input comes with ALLOW only; say in the note what should be different",
    };
  if (input !== null && approval.quorum > 1)
    return {
      code: "INVALID",
      field: ["input"],
      message: `${approval.quorum} people must allow the same input: deny it and say in the note what should be different`,
    };
  return null;
}
