import { expect } from "vitest";
import { CreateExportDocument, ExportDocument, type CreateExportInput, type ExportFragment } from "../generated/documents.ts";
import type { TestClient } from "./client.ts";

/** Asks for an export, and waits until it has ended. */
export async function exported(client: TestClient, input: Partial<CreateExportInput> = {}): Promise<ExportFragment> {
  const { createExport } = await client.get(CreateExportDocument, {
    input: { what: "TOOL_CALLS", format: "NDJSON", ...input },
  });
  if (createExport.export === null) throw new Error(JSON.stringify(createExport.userErrors));
  return ended(client, createExport.export.id);
}

export async function ended(client: TestClient, id: string, timeout = 180_000): Promise<ExportFragment> {
  let last: ExportFragment | null = null;
  await expect
    .poll(
      async () => {
        last = (await client.get(ExportDocument, { id })).export;
        return last?.state;
      },
      { timeout },
    )
    .not.toBe("RUNNING");
  if (last === null) throw new Error("there is no such export");
  return last;
}

/** The answer at the address of an export. */
export async function download(app: { readonly url: string }, { viewerUrl }: Pick<ExportFragment, "viewerUrl">, headers = {}) {
  const response = await fetch(new URL(viewerUrl ?? "/nothing", app.url), { headers });
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
}

/** The objects of a file of NDJSON. */
export async function rowsOf(
  app: { readonly url: string },
  of: Pick<ExportFragment, "viewerUrl">,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { status, bytes } = await download(app, of);
  expect(status).toBe(200);
  return bytes
    .toString("utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
