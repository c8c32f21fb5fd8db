/** The three planes of an agent: what it does, what people must decide, what operators watch. */
export const CHANNELS = ["PROGRESS", "CONTROL", "MONITOR"] as const;

/** One of the three planes. */
export type Channel = (typeof CHANNELS)[number];
