import { ConfigurationError } from "../src/config/configuration-error.ts";
import { readEnvironment, readLogSettings, variableNotes, type Environment } from "../src/config/environment.ts";
import { loadSettings } from "../src/config/settings.ts";
import { checkFolder } from "../src/db/lock-file.ts";
import { CommandFailed, explained } from "../src/operator-error.ts";
import { checkPort } from "../src/server/server.ts";
import { command } from "./command.ts";

/**
 * `npm run config:check`: reads the environment and the configuration as a start does, and says all that is wrong with both, a line
 * each, and the notes of a start. Opens no database, and asks no provider. Ends with 1 if a server would not start.
 */
await command(async () => {
  const [given] = process.argv.slice(2);
  if (given !== undefined)
    throw new CommandFailed(`npm run config:check takes no arguments, but was given ${given}: name a file in TRIPLANE_CONFIG`);
  const problems: string[] = [];
  const keep = (error: unknown): void => {
    const message = explained(error);
    if (message === null) throw error;
    problems.push(...message.split("\n"));
  };
  try {
    readLogSettings(process.env, false);
  } catch (error) {
    keep(error);
  }
  const environment = environmentOf(process.env, keep);
  const { dataFolder, programsFolder } = environment;
  await checkFolder(dataFolder, "TRIPLANE_DATA_DIR").catch(keep);
  if (programsFolder !== dataFolder) await checkFolder(programsFolder, "TRIPLANE_PROGRAMS_DIR").catch(keep);
  try {
    const { notes, sandboxLines, digest } = await loadSettings(environment);
    for (const line of sandboxLines) console.log(`sandbox: ${line}`);
    for (const note of [...notes, ...variableNotes(process.env)]) console.log(`note: ${note}`);
    const { database, port, host } = environment;
    if (port > 0) await checkPort(port, host).catch(keep);
    const where = database.kind === "embedded" ? `the embedded database in ${database.folder}` : "the PostgreSQL of DATABASE_URL";
    if (problems.length === 0) console.log(`${environment.configPath} can be started with (digest ${digest}), on ${where}`);
  } catch (error) {
    keep(error);
  }
  if (problems.length === 0) return;
  for (const problem of problems) console.error(`problem: ${problem}`);
  process.exitCode = 1;
});

/** The environment; without the variables that are wrong, each of which is kept as a problem. */
function environmentOf(variables: NodeJS.ProcessEnv, keep: (error: unknown) => void): Environment {
  try {
    return readEnvironment(variables);
  } catch (error) {
    keep(error);
    if (!(error instanceof ConfigurationError)) throw error;
    const wrong = error.message.split("\n").map((line) => /^\w+?(?=_FILE\b|\b)/.exec(line)?.[0] ?? "");
    const isWrong = (name: string): boolean => wrong.some((each) => name === each || name === `${each}_FILE`);
    return readEnvironment(Object.fromEntries(Object.entries(variables).filter(([name]) => !isWrong(name))));
  }
}
