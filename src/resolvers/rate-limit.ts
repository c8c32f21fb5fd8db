/** The room that an actor has for operations on one server. */
export type RateLimit = {
  /** The points that an actor has a minute, and at most at once. */
  readonly limit: number;
  /** The price of this operation. */
  readonly cost: number;
  readonly remaining: number;
  /** The time at which the actor has all of them again, if nothing is asked until then. */
  readonly resetAt: Date;
};

/** The room for one operation of an actor, which is charged before it runs. */
export type OperationRoom = {
  /** Takes the price of the operation from the actor's points. Throws a typed error if there are not so many now. */
  charge(price: number): void;
  /** Counts a subscription until the returned function is called. Throws a typed error if the actor has as many as allowed. */
  open(): () => void;
  state(): RateLimit;
};
