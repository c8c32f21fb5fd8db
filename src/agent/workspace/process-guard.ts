import { spawn } from "node:child_process";
import { Socket } from "node:net";

/**
 * Kills process groups in three cases: its input ends, because the server has ended; a group's time expires, because
 * the server is stopped and does not renew it; or the guard itself gets no more input. It confirms each new group, so
 * that no unknown one runs.
 *
 * A shell script: it takes 5 MB, and every machine has a shell. POSIX shells cannot read with a time limit, so the
 * server's lines and ticks share one pipe; lines are shorter than a pipe's atomic write. Each group is a word,
 * `ID:TIME`, with the time in hundredths of a second since the machine's start; 0 for none. That clock includes sleep.
 * Two extra hundredths let the server notice its own expired time when the program ends.
 */
const GUARD = `exec 3<&0 </dev/null
if [ -r /proc/uptime ]; then
  now() { read -r up rest < /proc/uptime; now=$((\${up%.*} * 100 + 1\${up#*.} - 100)); }
else
  now() { now=$(date +%s)00; }
fi
hold() { now; until=0; [ "$2" = 0 ] || until=$((now + $2 / 10 + 2)); groups="$groups$1:$until "; }
drop() { rest=\${groups#* "$1":}; groups="\${groups%% "$1":*} \${rest#* }"; }
{
  exec 4>&1 >&-
  while sleep "$0" && echo tick >&4; do :; done 3<&- &
  while read -r line; do echo "$line"; done <&3 >&4
  echo end >&4
} | {
  exec 3<&-
  groups=' '
  while read -r word group time; do
    case $word in
      hold) hold "$group" "$time"; echo "$group" ;;
      renew) case $groups in *" $group:"*) drop "$group"; hold "$group" "$time" ;; esac ;;
      drop) case $groups in *" $group:"*) drop "$group" ;; esac ;;
      tick) now
        for each in $groups; do
          until=\${each#*:}
          [ "$until" = 0 ] || [ "$now" -lt "$until" ] || { kill -s KILL -- "-\${each%:*}"; drop "\${each%:*}"; }
        done ;;
      end) break ;;
    esac
  done
  for each in $groups; do kill -s KILL -- "-\${each%:*}"; done
}`;

export type ProcessGuard = {
  hold(group: number, ms: number): void;
  renew(group: number, ms: number): void;
  drop(group: number): void;
  end(): void;
};

/**
 * Starts a guard, which checks each `tickMs` for groups with expired time. `onKnown` is called for each group that it
 * holds, `onEnded` when it ends.
 */
export function startGuard(tickMs: number, onKnown: (group: number) => void, onEnded: () => void): ProcessGuard {
  const guard = spawn("/bin/sh", ["-c", GUARD, String(tickMs / 1_000)], {
    detached: true,
    stdio: ["pipe", "pipe", "ignore"],
    env: process.env["PATH"] === undefined ? {} : { PATH: process.env["PATH"] },
  });
  guard.once("error", onEnded);
  guard.unref();
  guard.stdin.on("error", () => {});
  guard.stdout.setEncoding("utf8");
  let open = "";
  guard.stdout.on("data", (chunk: string) => {
    const lines = (open + chunk).split("\n");
    open = lines.pop() ?? "";
    lines.forEach((line) => onKnown(Number(line)));
  });
  guard.once("exit", onEnded);
  for (const stream of [guard.stdin, guard.stdout]) if (stream instanceof Socket) stream.unref();
  const say = (line: string): void => void guard.stdin.write(`${line}\n`);
  return {
    hold: (group, ms) => say(`hold ${group} ${timeOf(ms)}`),
    renew: (group, ms) => say(`renew ${group} ${timeOf(ms)}`),
    drop: (group) => say(`drop ${group}`),
    end: () => void guard.stdin.end(),
  };
}

/** In whole ms, at least one; 0 for no bound. */
function timeOf(ms: number): number {
  return Number.isFinite(ms) ? Math.max(1, Math.floor(ms)) : 0;
}
