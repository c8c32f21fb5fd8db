import { existsSync, lstatSync } from "node:fs";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { readWords, type ReadWord } from "../../bash/command-form.ts";
import type { FoundCommand, FoundWord, ShellWord, RecordedFiles } from "../../bash/command-line.ts";
import { type GitTime, recordableNames } from "../../bash/git/answer-of-git.ts";
import { scriptReason } from "../../bash/known-words.ts";
import { knownCommand } from "../../bash/table.ts";
import type { CoverRule } from "../../workspace/sandbox/covered-paths.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { coverRule } from "../cover-rule.ts";
import { judgeOpening } from "../judge.ts";
import type { Policy } from "../permission.ts";
import type { RuleValue, RuleValues } from "../rule-values.ts";

/** The values that were recorded of a call, in which commands that have no row, or not these options, do not only read. */
export function asListedNow(values: RuleValues): RuleValues {
  const again = (value: RuleValue): RuleValue =>
    value?.kind === "command" && Array.isArray(value.line?.commands)
      ? { ...value, line: { ...value.line, commands: value.line.commands.map(listedNow) } }
      : value;
  return Object.fromEntries(
    Object.entries(values).map(([parameter, list]) => [parameter, Array.isArray(list) ? list.map(again) : list]),
  );
}

/** A command that had a row when it was recorded: with a reason, and words that a rule must name, if its row does not have them. */
function listedNow(command: FoundCommand): FoundCommand {
  const own = command.words.findIndex(({ mustBeNamed }) => mustBeNamed !== "an assignment");
  if (command.effect === "unknown" || own < 0) return command;
  const words = command.words.slice(own).map(({ text }): ShellWord => ({
    text,
    // What was open was looked at then, and is nothing else now.
    open: null,
    assigns: false,
    start: command.start,
    end: command.end,
  }));
  const known = knownCommand(words);
  const name = known?.name ?? words[0]?.text ?? "";
  const read = known === null ? null : readWords(known.form, name, known.words, () => null);
  const reasons = new Map<ShellWord, string>();
  for (const word of read?.words ?? []) {
    const reason = reasonOf(word, name);
    if (reason !== null) reasons.set(word.word, reason);
  }
  if (known === null) for (const word of words.slice(1)) if (/^-./.test(word.text)) reasons.set(word, UNKNOWN_OPTION);
  const misses = known !== null && known.form.needs !== null && read?.options.has(known.form.needs) === false;
  if (known !== null && reasons.size === 0 && !misses) return command;
  const [first] = reasons.values();
  const reason = known === null ? `${name} is not known to only read` : (first ?? `${name} is asked about without an option`);
  return {
    ...command,
    effect: known === null || known.form.effect === "runs" ? "unknown" : known.form.effect,
    trouble: command.trouble ?? { start: command.start, end: command.end, reason },
    words: command.words.map((word, index): FoundWord => {
      const shell = words[index - own];
      return { ...word, mustBeNamed: word.mustBeNamed ?? (shell === undefined ? null : (reasons.get(shell) ?? null)) };
    }),
  };
}

const UNKNOWN_OPTION = "an option that is not known to be harmless";

function reasonOf(read: ReadWord, name: string): string | null {
  switch (read.kind) {
    case "option":
      return null;
    case "not harmless":
      return read.reason;
    // A rule may name what a command changes by `*`.
    case "unexpected":
      return null;
    case "used":
      return scriptReason(read, name);
  }
}

/** After so many names others have their turn. */
const TURN_NAMES = 2_000;

/**
 * The values, with the reason for which commands of git are asked about that would record files as the agent's box shows them: a
 * file that the box covers could be among them. The same object if there is no such command, or no box.
 */
export async function withRecordedFiles(
  values: RuleValues,
  workspace: Workspace,
  policy: Policy,
  time: GitTime,
): Promise<RuleValues> {
  const records = ({ records: found }: FoundCommand): boolean => found !== undefined;
  const isRecorded = (value: RuleValue): boolean => value.kind === "command" && value.line.commands.some(records);
  if (policy.box === null || !Object.values(values).some((list) => list.some(isRecorded))) return values;
  const repositories = new Repositories(workspace, policy, time);
  const looked: Record<string, readonly RuleValue[]> = {};
  for (const [parameter, list] of Object.entries(values)) {
    const found: RuleValue[] = [];
    for (const value of list) {
      if (value.kind !== "command") {
        found.push(value);
        continue;
      }
      const commands: FoundCommand[] = [];
      for (const command of value.line.commands)
        commands.push(
          command.records === undefined
            ? command
            : { ...command, records: { ...command.records, reason: await repositories.reasonOf(command.records) } },
        );
      found.push({ kind: "command", line: { ...value.line, commands } });
    }
    looked[parameter] = found;
  }
  return looked;
}

/** The repositories of a workspace, as one call's command lines record files in them: each is looked through once. */
class Repositories {
  readonly #workspace: Workspace;
  readonly #policy: Policy;
  readonly #time: GitTime;
  readonly #isCovered: (name: string) => boolean;
  /** Why commands that record files in a repository are asked about, by its folder; null if they are not. */
  readonly #reasons = new Map<string, string | null>();

  constructor(workspace: Workspace, policy: Policy, time: GitTime) {
    this.#time = time;
    this.#workspace = workspace;
    this.#policy = policy;
    this.#isCovered = coveredIn(workspace, coverRule(policy));
  }

  async reasonOf({ folder }: RecordedFiles): Promise<string | null> {
    const repository = repositoryOf(this.#workspace, folder ?? ".");
    if (repository === null) return null;
    const known = this.#reasons.get(repository);
    if (known !== undefined) return known;
    const reason = await this.#reasonIn(repository);
    this.#reasons.set(repository, reason);
    return reason;
  }

  async #reasonIn(repository: string): Promise<string | null> {
    const names = await recordableNames(join(this.#workspace.root, repository), this.#time);
    if (names === null) return "git does not say which files it would record, and it would record covered ones as empty";
    for (const [index, each] of names.entries()) {
      if (index % TURN_NAMES === TURN_NAMES - 1) await setImmediate();
      const name = repository === "." ? each : `${repository}/${each}`;
      if (!this.#isCovered(name)) continue;
      const { verdict, reason } = judgeOpening(this.#policy, [name], "read");
      const [closing, instead] =
        verdict === "deny"
          ? [`, since ${reason}`, `let a person commit ${name}`]
          : ["", `let an allow rule for fs_read name ${name}`];
      return `${name} is covered in the box${closing}, and git could record it as empty: ignore it in the repository, or ${instead}`;
    }
    return null;
  }
}

/** The folder of the workspace in which the repository of another begins; null if it begins outside. */
function repositoryOf({ root }: Workspace, folder: string): string | null {
  for (let above = folder; ; above = dirname(above)) {
    if (existsSync(join(root, above, ".git"))) return above;
    if (above === ".") return null;
  }
}

/** Says of files, by their paths from the workspace's root, if they lie there, and look emptied or removed in the box. */
function coveredIn({ root }: Workspace, { verdict }: CoverRule): (name: string) => boolean {
  const folders = new Map<string, "covered" | "open" | "looked into">();
  const ofFolder = (folder: string): "covered" | "open" | "looked into" => {
    const known = folders.get(folder);
    if (known !== undefined) return known;
    const above = dirname(folder);
    const said = above === "." ? "looked into" : ofFolder(above);
    const own = said === "looked into" ? verdict(folder, true) : said;
    folders.set(folder, own);
    return own;
  };
  return (name) => {
    const folder = dirname(name);
    const said = folder === "." ? "looked into" : ofFolder(folder);
    if (said === "open" || (said === "looked into" && verdict(name, false) !== "covered")) return false;
    const found = lstatSync(join(root, name), { throwIfNoEntry: false });
    return found !== undefined && (said === "covered" || !found.isSymbolicLink());
  };
}
