import { spawn } from "node:child_process";
import { once } from "node:events";

/** Starts a program by the bootstrap below a shell, and kills the shell when the program runs, as npm's goes with npm. */
const shell = spawn("sh", ["-c", "node scripts/bootstrap.mjs tests/support/counts-signals.ts; true"], {
  stdio: ["ignore", "pipe", "inherit"],
});
shell.stdout.pipe(process.stdout);
await once(shell.stdout, "data");
shell.kill("SIGKILL");
