import { SHELL_END_REASONS } from "../events/snapshots.ts";
import { builder } from "./builder.ts";
import { ShellEndReason, ShellState } from "./enums.ts";

export const Shell = builder.prismaObject("Shell", {
  description: "A background shell: a command that an agent left running. It runs on one server and ends with it.",
  fields: (t) => ({
    shellId: t.exposeID("id", { description: "Id of the shell, as used by the agent and in events." }),
    callId: t.exposeID("callId", { description: "`callId` of the call that started it." }),
    command: t.exposeString("command", { nullable: true, description: "Command line. Null if it was erased." }),
    state: t.field({
      type: ShellState,
      description: "Whether it is running.",
      select: { state: true },
      resolve: ({ state }) => (state === "RUNNING" ? state : "ENDED"),
    }),
    server: t.exposeString("server", {
      description: "Id of the server on which it runs or ran, as in the output of `bash_logs`.",
    }),
    host: t.exposeString("host", { description: "Host name of that server." }),
    endReason: t.field({
      type: ShellEndReason,
      nullable: true,
      description: "Reason why it ended. Null while it is running.",
      select: { endReason: true },
      resolve: ({ endReason }) => SHELL_END_REASONS.find((known) => known === endReason) ?? null,
    }),
    exitCode: t.exposeInt("exitCode", {
      nullable: true,
      description: "Exit code. Null while it is running, if a signal ended it, or if unknown.",
    }),
    signal: t.exposeString("signal", {
      nullable: true,
      description: "Signal that ended it, for example `SIGKILL`. Null while it is running, if none did, or if unknown.",
    }),
    startedAt: t.expose("startedAt", { type: "DateTime", description: "Start time." }),
    endedAt: t.expose("endedAt", { type: "DateTime", nullable: true, description: "End time. Null while it is running." }),
  }),
});
