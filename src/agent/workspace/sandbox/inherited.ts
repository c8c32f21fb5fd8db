import { existsSync, readdirSync, readFileSync } from "node:fs";

/** `O_CLOEXEC`: a descriptor with this flag is closed in programs that are started. */
const CLOSED_ON_START = 0o2000000;
const ONE_DIGIT = 9;

/** The inherited descriptors above 9, which programs would inherit. Node opens none such. */
export function inheritedDescriptors(): readonly number[] {
  return readdirSync("/proc/self/fd")
    .map(Number)
    .filter((descriptor) => descriptor > ONE_DIGIT && !isClosedOnStart(descriptor));
}

function isClosedOnStart(descriptor: number): boolean {
  try {
    const [, flags = "0"] = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8")) ?? [];
    return (Number.parseInt(flags, 8) & CLOSED_ON_START) !== 0;
  } catch {
    // The descriptor of the list itself.
    return true;
  }
}

export function launcherShell(inherited: readonly number[]): readonly [file: string, ...options: string[]] {
  return inherited.length > 0 && existsSync("/bin/bash") ? ["/bin/bash", "--posix"] : ["/bin/sh"];
}
