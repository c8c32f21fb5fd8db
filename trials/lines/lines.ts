import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { judgeByPolicy } from "../../src/agent/calls/stages/permission.ts";
import { validate } from "../../src/agent/calls/stages/validation.ts";
import { readPermission } from "../../src/agent/policy/permission-source.ts";
import { bashRun } from "../../src/agent/tools/bash/run.ts";
import { Workspace } from "../../src/agent/workspace/workspace.ts";
import { presets } from "../../src/triplane.ts";
import { Random } from "../hands/random.ts";
import { trialInFolder, type TrialRun } from "../trial.ts";
import { runBoxed } from "./boxed-lines.ts";
import { layOut, type Fixture } from "./fixtures.ts";
import { generatedLine } from "./generated.ts";

/** The allowed lines that are run, and how many of them in one box. */
const FULL = 50_000;
const SHORT = 900;
const A_BOX = 50;
/** Boxes that run at once. */
const AT_ONCE = 2;

/**
 * `npm run trial:lines`: what `presets.readOnly` lets run without a box does nothing. Generated command lines are judged in
 * workspaces with links, secrets and repositories that would run programs; each that is allowed is run by bash in a throw-away
 * box. With --planted a link named `-` is not seen by who judges, as if it were a stream: the trial must see what comes of it.
 */
await trialInFolder("lines", runLines);

type Judge = (line: string) => Promise<boolean>;

async function runLines(run: TrialRun, folder: string): Promise<string> {
  const seed = run.isShort ? 1 : Date.now() % 1_000_000;
  const random = new Random(seed);
  const fixtures = await layOut(join(folder, "judged"));
  const judges = await Promise.all(
    fixtures.map(async (fixture) => ({ fixture, isAllowed: await judgeIn(fixture, folder, run) })),
  );
  const wanted = run.isShort ? SHORT : FULL;
  const seen = new Set<string>();
  let [judged, allowed, effects] = [0, 0, 0];
  const work = async (): Promise<void> => {
    while (allowed < wanted) {
      const { fixture, isAllowed } = run.isPlanted ? linked(judges) : random.of(judges);
      const lines: string[] = [];
      while (lines.length < A_BOX) {
        const line = generatedLine(random);
        judged += 1;
        if (!seen.has(`${fixture.kind}\n${line}`) && (await isAllowed(line))) lines.push(line);
        seen.add(`${fixture.kind}\n${line}`);
      }
      allowed += lines.length;
      effects += await runAll(folder, fixture, lines, run);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return `seed ${seed}: ${judged} lines judged, ${allowed} allowed and run, ${effects} had an effect`;
}

/** Runs lines, those behind one with an effect in another box. */
async function runAll(folder: string, fixture: Fixture, lines: readonly string[], run: TrialRun): Promise<number> {
  const effect = await runBoxed(folder, fixture, lines);
  if (effect === null) return 0;
  run.fail(`in ${fixture.kind}: ${JSON.stringify(lines[effect.index])} ran unasked, and ${effect.what}`);
  const rest = lines.slice(effect.index + 1);
  return 1 + (rest.length === 0 ? 0 : await runAll(folder, fixture, rest, run));
}

async function judgeIn({ kind, workspace: root }: Fixture, folder: string, { isPlanted }: TrialRun): Promise<Judge> {
  let judgedRoot = root;
  if (isPlanted) {
    judgedRoot = join(folder, "planted", kind);
    await cp(root, judgedRoot, { recursive: true, verbatimSymlinks: true, force: true });
    await rm(join(judgedRoot, "-"), { force: true });
  }
  const workspace = new Workspace(judgedRoot);
  const vocabulary = { tools: new Map([[bashRun.name, bashRun]]), modes: new Map<string, never>() };
  const { permission } = readPermission(presets.readOnly, "trial", vocabulary);
  const policy = { permission, bounds: [], stored: [], box: null };
  return async (line) => {
    const request = {
      tenant: "t",
      agentId: "a",
      callId: "c",
      name: bashRun.name,
      form: "json",
      input: { command: line },
    } as const;
    const validated = validate({ request, tool: bashRun });
    if (!validated.ok) return false;
    return (
      (
        await judgeByPolicy(validated.value, {
          policy,
          workspace,
          definitionChange: async () => null,
          fromOutside: async () => null,
        })
      ).explanation.verdict === "allow"
    );
  };
}

function linked<Each extends { readonly fixture: Fixture }>(judges: readonly Each[]): Each {
  const found = judges.find(({ fixture }) => fixture.kind === "links");
  if (found === undefined) throw new Error("there is no workspace with links");
  return found;
}
