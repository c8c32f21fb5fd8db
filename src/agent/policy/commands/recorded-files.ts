import { existsSync, lstatSync } from "node:fs";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { FoundCommand, RecordedFiles } from "../../bash/command-line.ts";
import { type GitTime, recordableNames } from "../../bash/git/answer-of-git.ts";
import type { CoverRule } from "../../workspace/sandbox/covered-paths.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { coverRule } from "../cover-rule.ts";
import { judgeOpening } from "../judge.ts";
import type { Policy } from "../permission.ts";
import type { RuleValue, RuleValues } from "../rule-values.ts";

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
