import { SHELL_END_REASONS } from "../events/snapshots.ts";
import { builder } from "./builder.ts";
import { ShellEndReason, ShellState } from "./enums.ts";

export const Shell = builder.prismaObject("Shell", {
  description: "A command that an agent left running in the background. It runs on one server, and ends with it.",
  fields: (t) => ({
    shellId: t.exposeID("id", { description: "Its id, as the agent and events name it." }),
    callId: t.exposeID("callId", { description: "The call that started it." }),
    command: t.exposeString("command", { nullable: true, description: "Its command line; null where it was erased." }),
    state: t.field({
      type: ShellState,
      description: "Whether it runs.",
      select: { state: true },
      resolve: ({ state }) => (state === "RUNNING" ? state : "ENDED"),
    }),
    server: t.exposeString("server", { description: "The server on which it runs or ran, as `bash_logs` names it." }),
    host: t.exposeString("host", { description: "The name of that server's machine." }),
    endReason: t.field({
      type: ShellEndReason,
      nullable: true,
      description: "Why it ended; null while it runs.",
      select: { endReason: true },
      resolve: ({ endReason }) => SHELL_END_REASONS.find((known) => known === endReason) ?? null,
    }),
    exitCode: t.exposeInt("exitCode", {
      nullable: true,
      description: "Its exit code; null while it runs, if a signal ended it, or if nobody knows.",
    }),
    signal: t.exposeString("signal", { nullable: true, description: "The signal that ended it; null for none." }),
    startedAt: t.expose("startedAt", { type: "DateTime", description: "When it was started." }),
    endedAt: t.expose("endedAt", { type: "DateTime", nullable: true, description: "When it ended; null while it runs." }),
  }),
});
