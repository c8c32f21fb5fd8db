import { parentPort, workerData } from "node:worker_threads";
import { CopyRefused } from "../copies/folder-copy.ts";
import { MigrationError } from "../migrate.ts";
import type { CopyNews, CopyQuestion } from "./ask-copy.ts";
import { openCopy } from "./copy-reader.ts";
import { StatementRefused } from "./statement.ts";

/** The errors of a statement, and of a copy that this version does not read. */
const EXPLAINED = [StatementRefused, CopyRefused, MigrationError];

const { folder, statement, ...scope } = workerData as CopyQuestion;
const tell = (news: CopyNews): void => parentPort?.postMessage(news);
try {
  const reader = await openCopy(folder, scope);
  tell({ kind: "BEGUN", otherTenants: reader.otherTenants });
  tell({ kind: "ANSWERED", answer: await reader.answer(statement) });
} catch (error) {
  if (!(error instanceof Error) || !EXPLAINED.some((kind) => error instanceof kind)) throw error;
  tell({ kind: "REFUSED", message: error.message });
}
