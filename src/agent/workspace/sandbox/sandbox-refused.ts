/** A program may not be started at present. The message has the reason and advice. */
export class SandboxRefused extends Error {
  override readonly name = "SandboxRefused";
}
