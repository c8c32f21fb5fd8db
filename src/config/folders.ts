import { realpath, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { AnsweringFolders, folderHung } from "../agent/workspace/answering-folders.ts";
import type { WorkspaceFolders } from "../agent/workspace/roots.ts";
import { isInside } from "../lib/path-inside.ts";
import { messageOf } from "../lib/text.ts";
import { ConfigurationError } from "./configuration-error.ts";

export type TenantFolders = Pick<WorkspaceFolders, "workspaceRoots" | "defaultWorkspace">;

export type WrittenFolders = { readonly workspaceRoots: readonly string[] | null; readonly defaultWorkspace: string | null };

/**
 * The real paths of the folders at `place`, relative to the configuration's folder. Throws ConfigurationError if one is
 * no folder.
 */
export async function foldersOf(place: string, folder: string, written: WrittenFolders): Promise<TenantFolders> {
  const real = (name: string, path: string): Promise<string> => realFolderOf(`${place}${name}`, resolve(folder, path));
  const { workspaceRoots: roots, defaultWorkspace } = written;
  return {
    workspaceRoots: roots && (await Promise.all(roots.map((root, index) => real(`workspaceRoots.${index}`, root)))),
    defaultWorkspace: defaultWorkspace === null ? null : await real("defaultWorkspace", defaultWorkspace),
  };
}

/**
 * Throws ConfigurationError if a tenant's folder lies inside of another tenant's: its agents would be reachable. Two
 * may share one.
 */
export function refuseNested(path: string, tenants: ReadonlyMap<string, TenantFolders>): void {
  const places = [...tenants].flatMap(([tenant, { workspaceRoots, defaultWorkspace }]) =>
    [...(workspaceRoots ?? []), ...(defaultWorkspace === null ? [] : [defaultWorkspace])].map((folder) => ({ tenant, folder })),
  );
  for (const inner of places)
    for (const outer of places)
      if (inner.tenant !== outer.tenant && inner.folder !== outer.folder && isInside(outer.folder, inner.folder))
        throw new ConfigurationError(
          `${path}: tenants.${outer.tenant} may work in ${outer.folder}, in which ${inner.folder} of tenants.${inner.tenant} lies: give each tenant folders apart from the others'`,
        );
}

/** Throws ConfigurationError if a folder lies in the data folder, which has folders of all tenants' agents. */
export function refuseData(place: string, dataFolder: string, { workspaceRoots, defaultWorkspace }: TenantFolders): void {
  const folders = [...(workspaceRoots ?? []), ...(defaultWorkspace === null ? [] : [defaultWorkspace])];
  const inside = folders.find((folder) => isInside(dataFolder, folder));
  if (inside !== undefined)
    throw new ConfigurationError(
      `${place}: ${inside} is in the data folder ${dataFolder}, which is all tenants': name another folder`,
    );
}

/** A start does not wait for a hanging file system. */
const answering = new AnsweringFolders();

async function realFolderOf(field: string, folder: string): Promise<string> {
  if (!(await answering.answers(folder))) throw new ConfigurationError(`${field}: ${folderHung(folder)}`);
  const real = await realpath(folder).catch((error: unknown) => {
    throw new ConfigurationError(`${field}: ${folder} is not a folder that can be read (${messageOf(error)})`);
  });
  if ((await stat(real)).isDirectory()) return real;
  throw new ConfigurationError(`${field}: ${folder} is a file: name a folder`);
}
