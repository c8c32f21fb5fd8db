/** A program may not be started as things are. The message says why, and what to do. */
export class SandboxRefused extends Error {
  override readonly name = "SandboxRefused";
}
