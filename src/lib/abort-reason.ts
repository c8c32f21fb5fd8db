/** The abort reason of a signal whose work is over: Node's default error costs more than most calls. */
export const ENDED = new Error("what the signal was for has ended");
