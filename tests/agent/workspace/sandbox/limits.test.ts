import { join } from "node:path";
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { BOX_LIMITS, limitCommands, ownLimits } from "../../../../src/agent/workspace/sandbox/control-groups.ts";
import { hasNoBox, testBox } from "../../../support/box.ts";

const MIB = 1024 ** 2;

describe.skipIf(hasNoBox)("the limits of a box", () => {
  it("bound the size of a file, the memory of a process, and what lies in memory as a file", async () => {
    const limits = { ...BOX_LIMITS, file: MIB, memory: 64 * MIB, temporary: 256 * 1024 };
    const { run, workspace } = await testBox({ limits });
    const { out, err } = await run(`
      head -c 2000000 /dev/zero > big; echo "file $?"
      perl -e '$a = "x" x 200000000; print "had memory\n"'; echo "memory $?"
      head -c 1000000 /dev/zero > /tmp/big 2>/dev/null; stat -c %s /tmp/big
      head -c 1000000 /dev/zero > /dev/shm/big 2>/dev/null; stat -c %s /dev/shm/big
      ulimit -c; echo > /dev/x; echo > /x`);
    expect(out.split("\n")).toMatchObject(["file 153", expect.stringMatching(/^memory [1-9]/), "262144", "262144", "0", ""]);
    expect(err).toContain("Out of memory");
    expect(err.match(/Read-only file system/g)).toHaveLength(2);
    expect((await readFile(join(workspace, "big"))).length).toBe(MIB);
  });

  it("bound the processes of the box alone, and are not raised from inside", async () => {
    const { run } = await testBox({ limits: { ...BOX_LIMITS, processes: 20 } });
    const forks = `perl -e 'for (1..40) { my $child = fork; if (defined $child && $child == 0) { sleep 2; exit } } print scalar(@{[glob "/proc/[0-9]*"]})'`;
    const { out } = await run(`ulimit -u 1000 2>/dev/null; ulimit -Hu; ${forks}`);
    const [limit, running] = out.trim().split("\n").map(Number);
    expect(limit).toBe(20);
    // The system sets the user root no such limit.
    if (process.getuid?.() !== 0) expect(running).toBeLessThanOrEqual(21);
  });
});

it("the limits of a box are no higher than those of the server", () => {
  const own = ownLimits(
    "Max data size             unlimited            1048576              bytes\nMax processes             10  100 processes\n",
  );
  expect(own).toEqual({ memory: 1048576, processes: 100, file: Infinity });
  const commands = limitCommands(BOX_LIMITS, own);
  expect(commands).toContain("ulimit -d 1024 ");
  expect(commands).toContain("ulimit -u 100 ");
  expect(commands).toContain(`ulimit -f ${BOX_LIMITS.file / 512} `);
});
