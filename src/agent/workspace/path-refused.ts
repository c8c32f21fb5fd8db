/** A path that a tool may not use. The message is for the model: the fact, which people read too, and the advice. */
export class PathRefused extends Error {
  override readonly name = "PathRefused";
  readonly fact: string;

  constructor(fact: string, advice: string | null = null) {
    super(advice === null ? fact : `${fact}: ${advice}`);
    this.fact = fact;
  }
}

export class PathClosed extends PathRefused {}
