import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The path of a module of the workspace's room. */
function moduleOf(name: string): string {
  return JSON.stringify(fileURLToPath(new URL(`../../src/agent/workspace/${name}`, import.meta.url)));
}

/**
 * Writes the script of a process that runs a command line of bash in a box, passes on what it says, and ends with it: for
 * tests that kill a server, or give it more than tests can give themselves. The box's folder is `box` in `folder`.
 */
export async function boxServer(folder: string, command: string): Promise<string> {
  const script = join(folder, "server.ts");
  const workspace = join(folder, "workspace");
  await mkdir(workspace);
  const program = {
    argv: ["bash", "-c", command],
    folder: workspace,
    workspace,
    home: workspace,
    env: { PATH: "/usr/bin:/bin" },
    network: null,
    isBackground: false,
  };
  await writeFile(
    script,
    `import { ProcessGroups } from ${moduleOf("process-groups.ts")};
    import { availability } from ${moduleOf("sandbox/available.ts")};
    import { BubblewrapSandbox } from ${moduleOf("sandbox/bubblewrap.ts")};
    import { BOX_LIMITS } from ${moduleOf("sandbox/control-groups.ts")};
    const groups = new ProcessGroups();
    const settings = { folder: ${JSON.stringify(join(folder, "box"))}, read: [], protect: [], closed: [], limits: BOX_LIMITS, controlGroups: null };
    const box = new BubblewrapSandbox(groups, availability(), settings);
    const look = async () => ({ covered: [], repositories: [] });
    const answering = async () => true;
    const { process: child, ended } = await box.start({ ...${JSON.stringify(program)}, look, answering }, new AbortController().signal);
    child.stdin.end();
    child.stdout.pipe(process.stdout);
    child.stderr.pipe(process.stderr);
    await ended;
    groups.close();`,
  );
  return script;
}
