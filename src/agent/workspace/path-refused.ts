/** A path that a tool may not use; the message is for the model. */
export class PathRefused extends Error {
  override readonly name = "PathRefused";
}

/** A path of what is the server's own. */
export class PathClosed extends PathRefused {}
