/**
 * Why a signal aborts whose work is over. Given to `abort()`, since the error that Node makes otherwise costs more than
 * what most calls do.
 */
export const ENDED = new Error("what the signal was for has ended");
