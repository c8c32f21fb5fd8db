import { Type } from "typebox";
import type { ShellEnd } from "./shells.ts";

export function shellId() {
  return Type.String({ minLength: 1, maxLength: 64, description: "The shell's id, as bash_run gave it." });
}

/** The error for an id that is no shell of the agent, even if another agent has it. */
export function noSuchShell(id: string): Error {
  return new Error(`you have no background shell ${JSON.stringify(id)}: bash_run gives the id of one that it starts`);
}

export function endWords({ endReason, exitCode, signal }: ShellEnd): string {
  const how = signal === null ? (exitCode === null ? "" : `exit code ${exitCode}`) : `by ${signal}`;
  switch (endReason) {
    case "EXITED":
      return how === "" ? "by itself" : how;
    case "KILLED":
      return "bash_kill ended it";
    case "TIME_UP":
      return "its time was up";
    case "INTERRUPTED":
      return "a person interrupted you";
    case "ARCHIVED":
      return "you were archived";
    case "TAKEN_OVER":
      return "another server goes on with you";
    case "SERVER_CLOSED":
      return "its server was closed";
    case "SERVER_LOST":
      return "its server was not heard of again";
    case "NOT_STARTED":
      return "it could not be started";
  }
}
