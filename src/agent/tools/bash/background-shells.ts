import { Type } from "typebox";
import { closed } from "../../../lib/setting.ts";
import { counted } from "../../../lib/text.ts";
import { terminalText } from "../../workspace/output/terminal-text.ts";
import { OUTPUT } from "../limits.ts";
import { defineTool, optional } from "../tool.ts";
import type { ShellEnd } from "./shells.ts";

/** The room of the line that says how to read on, in bytes and in lines. */
const NOTE = { bytes: 1_024, lines: 4 } as const;

export const bashLogs = defineTool({
  name: "bash_logs",
  description:
    "Reads what a background shell has said so far, from a byte offset on, and whether it still runs. Read on with the offset that the answer gives.",
  readOnly: true,
  idempotent: true,
  inputSchema: closed({
    shell_id: shellId(),
    since: optional(
      Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: "Byte offset to read from; 0 if left out." }),
    ),
  }),
  async run({ shell_id, since }, { shells }) {
    const from = since ?? 0;
    const piece = { since: from, bytes: OUTPUT.bytes - NOTE.bytes, lines: OUTPUT.lines - NOTE.lines };
    const found = await shells.logs(shell_id, piece);
    if (found === null) throw noSuchShell(shell_id);
    const { end, output, server } = found;
    const common = {
      ok: true,
      shell_id,
      running: end === null,
      status: end === null ? "running" : end.endReason.toLowerCase(),
      code: end?.exitCode ?? null,
      signal: end?.signal ?? null,
    };
    const state = end === null ? "it runs" : `it has ended: ${endWords(end)}`;
    if (output === null)
      return {
        output: `[${state}; the server ${server} has what it said, if it said anything, and this one has none of it]`,
        details: { ...common, since: from, next_offset: from, output: "", outputBytes: null, server },
      };
    const { to, total } = output;
    const text = terminalText(output.text);
    const leftOut = output.from > from ? `[${output.from - from} bytes from offset ${from} on are no longer kept]\n` : "";
    const all = total === 0 ? "it has said nothing" : "all";
    const said = from > total ? `offset ${from} lies behind the end, which is at ${total}` : end === null ? `${all} so far` : all;
    const more = `${counted(total - to, "more byte")}, read on`;
    const next = to < total ? more : end === null ? `${said}, read on later` : said;
    return {
      output: `${leftOut}${text}${text === "" || text.endsWith("\n") ? "" : "\n"}[${state}; ${next}${to === total && end !== null ? "" : ` with since ${to}`}]`,
      details: { ...common, since: output.from, next_offset: to, output: text, outputBytes: total, server: null },
    };
  },
});

export const bashKill = defineTool({
  name: "bash_kill",
  description: "Ends a background shell with all that it started, and says how it ended.",
  readOnly: false,
  idempotent: true,
  risk: "LOW",
  inputSchema: closed({ shell_id: shellId() }),
  async run({ shell_id }, { shells }) {
    const shell = await shells.kill(shell_id);
    if (shell === null) throw noSuchShell(shell_id);
    if (shell.end === null)
      throw new Error(`the shell ${shell_id} runs on another server, which ends it: look again with bash_logs`);
    const { endReason, exitCode, signal } = shell.end;
    const message = endReason === "KILLED" ? "it was killed" : `it had ended before: ${endWords(shell.end)}`;
    return { output: message, details: { ok: true, shell_id, message, status: endReason.toLowerCase(), code: exitCode, signal } };
  },
});

function shellId() {
  return Type.String({ minLength: 1, maxLength: 64, description: "The shell's id, as bash_run gave it." });
}

/** The error for an id that is no shell of the agent, even if another agent has it. */
function noSuchShell(id: string): Error {
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
      return "another server continues your work";
    case "SERVER_CLOSED":
      return "its server was closed";
    case "SERVER_LOST":
      return "its server was not heard of again";
    case "NOT_STARTED":
      return "it could not be started";
  }
}
