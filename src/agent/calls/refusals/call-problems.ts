import type { CommandRefusal } from "../../actors/actor.ts";
import { ISSUES, refusalText, type Refusal } from "./refusal.ts";

/** The problems of a call that does not reach the permission stage, one a place of its input. */
export function callProblems(refusal: Refusal, otherwise: readonly string[]): readonly CommandRefusal[] {
  if (refusal.type !== "invalid_params") return [{ code: "INVALID", field: otherwise, message: refusalText(refusal) }];
  return refusal.issues.slice(0, ISSUES).map(({ path, message }) => ({
    code: "INVALID",
    field: ["input", ...path.split("/").filter((name) => name !== "")],
    message,
  }));
}
