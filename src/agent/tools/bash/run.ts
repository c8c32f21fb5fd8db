import { Type } from "typebox";
import { aborted } from "../../../lib/aborted.ts";
import { closed } from "../../../lib/setting.ts";
import { foreseen } from "../fs/file-problem.ts";
import { presentFolder, type FinishedProgram } from "../programs.ts";
import { TimedOut } from "../timed-out.ts";
import { defineTool, MAX_TIMEOUT_MS, optional } from "../tool.ts";

/** Longer command lines, in characters, are scripts, and are written to a file first. */
const COMMAND = 32_768;

export const bashRun = defineTool({
  name: "bash_run",
  description:
    "Runs a command line with bash in the workspace, without a terminal and without input. Answers what it said (stdout and stderr as they came) and its exit code; of long output the head and the tail. What it started in the background ends with it: with background, the command itself runs on after the call, and you go on at once.",
  readOnly: false,
  risk: "HIGH",
  keeps: "tail",
  paths: { cwd: "read" },
  commands: [{ place: "command", folderIn: "cwd", environmentIn: "env" }],
  inputSchema: closed({
    command: commandLine(),
    cwd: optional(Type.String({ minLength: 1, description: "Folder of the workspace to run in; the workspace if left out." })),
    timeout_ms: optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_TIMEOUT_MS,
        description: "After so many ms the command is stopped. A call never has more time than the agent's calls have.",
      }),
    ),
    env: optional(environment()),
    background: optional(
      Type.Boolean({
        description:
          "True for what runs on, as a server does: answers its id, for bash_logs and bash_kill. You are told when it ends.",
      }),
    ),
  }),
  // The changes of a command are unknown. It fails without a folder to start in.
  preview: ({ cwd }, { workspace }) =>
    foreseen(async () => {
      if (cwd != null) await presentFolder(workspace, cwd);
      return null;
    }, "cwd"),
  async run({ command, cwd, timeout_ms, env, background }, { start, finish, shells }) {
    const options = { ...(cwd == null ? {} : { folder: cwd }), ...(env == null ? {} : { env }) };
    if (background === true) {
      const id = await shells.start(command, ["sh", ...bash(command)], { ...options, timeoutMs: timeout_ms ?? null });
      const message = `the background shell ${id} runs: read it with bash_logs, end it with bash_kill`;
      return { output: message, details: { background: true, shell_id: id, message } };
    }
    const running = async (): Promise<FinishedProgram> => {
      const program = await start("sh", bash(command), options);
      program.stdin.end();
      return finish(program);
    };
    const finished = await within(timeout_ms ?? null, running());
    const { code, signal, durationMs, output, outputBytes, notes } = finished;
    return {
      output: `${output}${output === "" || output.endsWith("\n") ? "" : "\n"}${[...notes.map((note) => `[${note}]`), endLine(finished)].join("\n")}`,
      details: { background: false, code, signal, durationMs, output, outputBytes, notes },
    };
  },
});

/** The arguments of sh for a bash with one output stream, which keeps its output in order. */
function bash(command: string): readonly string[] {
  return ["-c", 'exec "$@" 2>&1', "sh", "bash", "--noprofile", "--norc", "-c", command];
}

/** Rejects with TimedOut if `timeoutMs` expires first; null for no limit of its own. */
async function within<Result>(timeoutMs: number | null, work: Promise<Result>): Promise<Result> {
  if (timeoutMs === null) return work;
  using limit = aborted(AbortSignal.timeout(timeoutMs), () => new TimedOut(timeoutMs));
  return await Promise.race([work, limit.promise]);
}

function endLine({ code, signal, durationMs, outputBytes }: FinishedProgram): string {
  const end = signal === null ? `exit code ${code}` : `ended by ${signal}`;
  return `[${outputBytes === 0 ? "no output, " : ""}${end}, ${Math.round(durationMs)} ms]`;
}

function commandLine() {
  return Type.String({ minLength: 1, maxLength: COMMAND, description: "The command line, as bash reads it." });
}

function environment() {
  return Type.Unsafe<Readonly<Record<string, string>>>({
    type: "object",
    propertyNames: { pattern: "^[A-Za-z_][A-Za-z0-9_]{0,127}$" },
    additionalProperties: { type: "string", maxLength: COMMAND },
    maxProperties: 100,
    description: "Variables of the environment, by name. No secret of the server is in the environment.",
  });
}
