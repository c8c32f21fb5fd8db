import { parentPort, workerData } from "node:worker_threads";
import { matchLines } from "./line-search.ts";

/** The thread of `regexSearch`. */
const { pattern, flags } = workerData as { pattern: string; flags: string };
const expression = new RegExp(pattern, flags);

parentPort?.on("message", ({ text, most }: { text: string; most: number }) => {
  parentPort?.postMessage(matchLines(text, most, (line) => line.search(expression)));
});
