import { existsSync, lstatSync } from "node:fs";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { CoverRule } from "../../../workspace/sandbox/covered-paths.ts";
import type { Workspace } from "../../../workspace/workspace.ts";
import { coverRule } from "../../cover-rule.ts";
import type { Policy } from "../../permission.ts";
import { denyingRule } from "../../policy.ts";
import { isWithin } from "../../rule.ts";
import type { RuleValue, RuleValues } from "../../rule-values.ts";
import type { FoundCommand, RecordedFiles } from "../command-line.ts";
import { trackedNames } from "./tracked-names.ts";

/** After so many names others have their turn. */
const TURN_NAMES = 2_000;

/**
 * The values, with the reason for which commands of git are asked about that would record files as the agent's box shows them: a
 * repository tracks a file that the box covers. The same object if there is no such command, or no box.
 */
export async function withRecordedFiles(values: RuleValues, workspace: Workspace, policy: Policy): Promise<RuleValues> {
  const records = ({ records: found }: FoundCommand): boolean => found !== undefined;
  const isRecorded = (value: RuleValue): boolean => value.kind === "command" && value.line.commands.some(records);
  if (policy.box === null || !Object.values(values).some((list) => list.some(isRecorded))) return values;
  const repositories = new Repositories(workspace, policy);
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
  readonly #isCovered: (name: string) => boolean;
  /** The tracked files of a repository that are covered, by its folder; null if nobody can say which it tracks. */
  readonly #covered = new Map<string, readonly string[] | null>();

  constructor(workspace: Workspace, policy: Policy) {
    this.#workspace = workspace;
    this.#policy = policy;
    this.#isCovered = coveredIn(workspace, coverRule(policy));
  }

  /** Why a command that records files is asked about; null if it is not. */
  async reasonOf({ folder, names }: RecordedFiles): Promise<string | null> {
    const repository = repositoryOf(this.#workspace, folder ?? ".");
    if (repository === null) return null;
    const covered = await this.#coveredOf(repository);
    if (covered === null)
      return "nobody can say which files the repository tracks, and git would record covered ones as empty: add files by name";
    const name = covered.find((each) => names === null || names.some((named) => isWithin(named, each)));
    if (name === undefined) return null;
    const denying = denyingRule(this.#policy, [name], "read");
    const instead = denying === null ? `let an allow rule for fs_read name ${name}` : `let a person commit ${name}`;
    const closing = denying === null ? "" : `, since ${denying.source} closes it`;
    return `the repository tracks ${name}, which is covered in the box${closing}: git would record it as empty; name the other files instead, or ${instead}`;
  }

  async #coveredOf(repository: string): Promise<readonly string[] | null> {
    const known = this.#covered.get(repository);
    if (known !== undefined) return known;
    const tracked = await trackedNames(join(this.#workspace.root, repository));
    const covered: string[] = [];
    for (const [index, each] of tracked?.entries() ?? []) {
      if (index % TURN_NAMES === TURN_NAMES - 1) await setImmediate();
      const name = repository === "." ? each : `${repository}/${each}`;
      if (this.#isCovered(name)) covered.push(name);
    }
    const found = tracked === null ? null : covered;
    this.#covered.set(repository, found);
    return found;
  }
}

/** The folder of the repository in which a folder lies, as a path from the workspace's root; null if none is in the workspace. */
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
