import { withoutEnd } from "../../../lib/text.ts";
import type { ShellWord } from "../command-line.ts";

/** Commands that run the words behind their options, after so many operands of their own. */
export const RUNNERS: ReadonlyMap<string, number> = new Map([
  ...[
    "sudo",
    "doas",
    "pkexec",
    "env",
    "xargs",
    "nice",
    "nohup",
    "stdbuf",
    "setsid",
    "ionice",
    "command",
    "builtin",
    "exec",
    "time",
  ].map((name) => [name, 0] as const),
  ...["busybox", "toybox", "unshare", "nsenter", "strace", "ltrace", "gdb", "systemd-run", "dbus-run-session", "xvfb-run"].map(
    (name) => [name, 0] as const,
  ),
  ...[
    "npx",
    "bunx",
    "pnpx",
    "uvx",
    "runuser",
    "fakeroot",
    "catchsegv",
    "parallel",
    "watch",
    "entr",
    "watchexec",
    "hyperfine",
    "caffeinate",
    "proot",
    "bwrap",
  ].map((name) => [name, 0] as const),
  ...[
    "linux32",
    "linux64",
    "uname26",
    "cgexec",
    "rlwrap",
    "unbuffer",
    "cpulimit",
    "schedtool",
    "trickle",
    "proxychains",
    "proxychains4",
    "torsocks",
    "torify",
    "chpst",
    "softlimit",
    "with-contenv",
    "dbus-launch",
    "ccache",
    "distcc",
    "sccache",
    "retry",
    "wsl",
    "winpty",
    "cross-env",
    "dotenv",
    "dotenvx",
    "vault-env",
    "nodemon",
    "sg",
    "concurrently",
    "npm-run-all",
    "tmux",
    "screen",
    "i386",
    "x86_64",
    "choom",
    "chronic",
    "valgrind",
    "dumb-init",
    "tini",
    "eatmydata",
    "numactl",
    "run0",
  ].map((name) => [name, 0] as const),
  ...[
    "envdir",
    "setuidgid",
    "s6-setuidgid",
    "faketime",
    "timeout",
    "flock",
    "chroot",
    "chrt",
    "taskset",
    "setarch",
    "ssh",
    "firejail",
    "gosu",
    "su-exec",
    "setpriv",
    "prlimit",
  ].map((name) => [name, 1] as const),
]);
/** Commands that run their words with more words behind them, which stand nowhere in the line. */
export const TAKES_MORE: ReadonlySet<string> = new Set(["parallel", "entr"]);
/** The words that such a command adds. */
export const MORE: ShellWord = { text: "", open: "a variable or substitution", assigns: false, start: 0, end: 0 };
/** Commands that run the words behind one of these. */
export const RUNNING_OPTIONS: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ["find", ["-exec", "-execdir", "-ok", "-okdir"]],
  ...["fd", "fdfind"].map((name): [string, readonly string[]] => [name, ["-x", "-X", "--exec", "--exec-batch"]]),
  ["npm", ["exec", "x"]],
  ["pnpm", ["exec", "dlx"]],
  ["yarn", ["exec", "dlx"]],
  ["bun", ["x"]],
  ["git", ["run", "foreach", "--exec", "-x"]],
  ["docker", ["exec", "run"]],
  ["podman", ["exec", "run"]],
  ["kubectl", ["--"]],
  ...["uv", "poetry", "pipenv", "conda", "hatch", "op", "doppler"].map((name): [string, readonly string[]] => [name, ["run"]]),
  ...["bundle", "direnv", "mise", "asdf", "rbenv", "pyenv", "nvm", "volta", "lxc"].map((name): [string, readonly string[]] => [
    name,
    ["exec", "run"],
  ]),
  ["perf", ["stat", "record", "trace"]],
  ["mise", ["exec", "run", "x"]],
  ["ip", ["exec"]],
  ["start-stop-daemon", ["--exec", "-x", "--startas", "-a"]],
  ["tmux", ["new", "new-session", "new-window", "neww", "split-window", "splitw", "respawn-pane", "run-shell", "run", "-d"]],
  ["screen", ["-dm", "-m"]],
  ["cmd", ["/c", "/C", "/k"]],
]);
/** Commands whose words, or parts of them behind a name and a sign, may be lines that they run. */
export const TAKES_LINES: ReadonlySet<string> = new Set(
  "tmux screen concurrently npm-run-all watchexec sg newgrp sops tar ssh scp sftp rsync strace ltrace man socat nc ncat expect gdb vim vi ex nvim emacs less more at batch".split(
    " ",
  ),
);
/**
 * Commands whose words behind `--`, `run` or `exec` are operands of their own programs or scripts, and whose `-c` is code of
 * another language: nothing is guessed of them.
 */
export const OWN_WORDS: ReadonlySet<string> = new Set(
  "git npm pnpm yarn bun make cargo go node deno python python3 perl ruby php lua psql mysql sqlite3 gcc g++ clang cc tar gzip".split(
    " ",
  ),
);
/** The most commands that the words behind a runner are read as. */
export const READINGS = 20;
/** Commands that run what they read: shells, and those that hand it to one. */
const SHELLS: ReadonlySet<string> = new Set([
  "sh",
  "bash",
  "dash",
  "zsh",
  "ksh",
  "mksh",
  "ash",
  "rbash",
  "fish",
  "csh",
  "tcsh",
  "yash",
  "pwsh",
  "posh",
  "nu",
  "elvish",
  "xonsh",
  "osh",
  "lksh",
  "rksh",
  "oksh",
  "loksh",
  "pdksh",
  "rzsh",
  "hush",
  "ion",
  "es",
  "rc",
  "powershell",
  "newgrp",
  "at",
  "batch",
]);

/** True if a command runs what it reads, also with a version behind its name, as `bash-5.2`. */
export function isShell(name: string): boolean {
  return SHELLS.has(withoutEnd(name, "-.0123456789"));
}
/** Commands that run a program of a package, which they name first. */
export const PACKAGE_RUNNERS: ReadonlySet<string> = new Set(["npx", "bunx", "pnpx", "uvx"]);

/** True if the words of a command are another command, or a text that a shell reads. */
export function runsOthers(name: string): boolean {
  if (PACKAGE_RUNNERS.has(name)) return false;
  return (
    RUNNERS.has(name) || isShell(name) || JOINED.has(name) || ["source", ".", "su", "script", "trap", "alias"].includes(name)
  );
}
/** Options whose value a shell reads. */
export const TEXT_OPTIONS: ReadonlyMap<string, readonly string[]> = new Map([
  ["su", ["-c", "--command"]],
  ["script", ["-c", "--command"]],
  ["runuser", ["-c", "--command"]],
  ["flock", ["-c", "--command"]],
  ["npx", ["-c", "--call"]],
  ["npm", ["-c", "--call"]],
  [
    "git",
    [
      "--exec",
      "-x",
      "-O",
      "-u",
      "--upload-pack",
      "--receive-pack",
      "--extcmd",
      "--open-files-in-pager",
      "--setup",
      ...["env", "tree", "index", "parent", "msg", "commit", "tag-name"].map((name) => `--${name}-filter`),
    ],
  ],
  ["env", ["-S", "--split-string"]],
  ["nodemon", ["--exec", "-x"]],
  ["tar", ["--to-command", "--checkpoint-action", "--use-compress-program", "-I"]],
  ["rsync", ["--rsh", "-e"]],
  ["sort", ["--compress-program"]],
  ["split", ["--filter"]],
  ["sg", ["-c"]],
  ["man", ["--pager", "-P"]],
  ["nix-shell", ["--run", "--command"]],
  ["compgen", ["-C", "-W"]],
  ["complete", ["-C", "-W"]],
  ["mapfile", ["-C"]],
  ["readarray", ["-C"]],
]);
/** The commands of git whose letters these are: letters may stand before them, as in `git rebase -ix`, and others take text behind one dash. */
export const TEXT_LETTERS: ReadonlyMap<string, string> = new Map([
  ["-x", "rebase"],
  ["-O", "grep"],
  ["-u", "clone"],
]);
/** Commands that join their words into one command line, which a shell reads. */
export const JOINED: ReadonlySet<string> = new Set(["eval", "ssh", "watch", "parallel", "hyperfine"]);
/** Wrappers that change neither who nor where nor with what a command runs: allow rules look through them. */
export const PLAIN: Readonly<
  Record<string, { readonly flags: readonly string[]; readonly valued: readonly string[]; readonly operands: number }>
> = {
  timeout: {
    flags: ["--foreground", "--preserve-status", "-v", "--verbose"],
    valued: ["-k", "--kill-after", "-s", "--signal"],
    operands: 1,
  },
  nice: { flags: [], valued: ["-n", "--adjustment"], operands: 0 },
  nohup: { flags: [], valued: [], operands: 0 },
};
