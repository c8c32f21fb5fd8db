export type RateLimit = {
  readonly limit: number;
  readonly cost: number;
  readonly remaining: number;
  /** The time at which all points are available again without further requests. */
  readonly resetAt: Date;
};

export type OperationRoom = {
  /** Takes the price from the actor's points. Throws a typed error if there are too few. */
  charge(price: number): void;
  /** Counts a subscription until the returned function is called. Throws a typed error at the actor's limit. */
  open(): () => void;
  state(): RateLimit;
};
