import { parentPort, workerData } from "node:worker_threads";
import { inLine, matchLines } from "./line-search.ts";

const { pattern, flags } = workerData as { pattern: string; flags: string };
const expression = new RegExp(pattern, flags);
const columnOf = inLine(pattern, (line) => line.search(expression));

parentPort?.on("message", ({ text, most }: { text: string; most: number }) => {
  parentPort?.postMessage(matchLines(text, most, columnOf));
});
