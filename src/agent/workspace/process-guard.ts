import { spawn } from "node:child_process";
import { Socket } from "node:net";

/**
 * Kills process groups, in three cases: its input ends, which is when the server has died, however it died; a group's time is over,
 * because the server stands still and does not renew it; and the guard itself is asked nothing more. It says each new group back, so that
 * none runs before it is known.
 *
 * A shell, and no program of ours: it takes 5 MB, and is there on every machine. No shell of POSIX reads with a time limit, so lines
 * of the server and ticks come by one pipe; a line is shorter than what a pipe takes at once, so that none is torn. Each group is a
 * word, `ID:TIME`, with the time in hundredths of a second since the machine was started; 0 for none. That clock goes on while a machine sleeps.
 * The two hundredths that are added let the server find its own time over when the program ends.
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

/** A guard that runs. */
export type ProcessGuard = {
  /** A group that is to be held, for so many ms unless that is renewed; Infinity for as long as the server lives. */
  hold(group: number, ms: number): void;
  /** The group is held for so many ms from now. */
  renew(group: number, ms: number): void;
  /** The group has ended. */
  drop(group: number): void;
  /** Kills all groups that are held. */
  end(): void;
};

/** Starts a guard, which looks each `tickMs` for groups whose time is over. `onKnown` hears of each group that it holds, `onEnded` that it is gone. */
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
