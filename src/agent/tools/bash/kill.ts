import { closed } from "../../../lib/setting.ts";
import { defineTool } from "../tool.ts";
import { endWords, noSuchShell, shellId } from "./shell-words.ts";

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
