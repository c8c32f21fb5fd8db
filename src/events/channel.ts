export const CHANNELS = ["PROGRESS", "CONTROL", "MONITOR"] as const;

export type Channel = (typeof CHANNELS)[number];
