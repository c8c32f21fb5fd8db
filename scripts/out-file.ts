import { rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { errorCode } from "../src/lib/text.ts";
import { CommandFailed } from "../src/operator-error.ts";

/** A file that is written beside its name, apart from those of other processes, and named when it is whole. */
export class OutFile {
  readonly #name: string;
  readonly #mayReplace: boolean;
  readonly partial: string;

  private constructor(name: string, mayReplace: boolean) {
    this.#name = name;
    this.#mayReplace = mayReplace;
    this.partial = `${name}.${process.pid}.partial`;
  }

  /** Begins the file, empty. Throws CommandFailed if it cannot be written, or may not be replaced. */
  static async begin(name: string, mayReplace: boolean): Promise<OutFile> {
    const file = new OutFile(name, mayReplace);
    const present = await existing(name);
    if (present !== null && !present.isFile()) throw new CommandFailed(`--out ${name} is no file: name one`);
    if (present !== null && !mayReplace)
      throw new CommandFailed(`--out ${name} exists already: name another file, or replace this one with --force`);
    await writeFile(file.partial, "", { mode: 0o600 }).catch((error: unknown) => {
      const folder = dirname(resolve(name));
      const code = errorCode(error) ?? "unknown";
      throw new CommandFailed(
        code === "ENOENT"
          ? `--out ${name}: there is no folder ${folder}: make it, or name another file`
          : `--out ${name} cannot be written in ${folder} (${code}): name a file that you may write`,
        { cause: error },
      );
    });
    return file;
  }

  /** Gives the whole file its name. If another file has come there meanwhile, both stay. */
  async finish(): Promise<void> {
    if (!this.#mayReplace && (await existing(this.#name)) !== null)
      throw new CommandFailed(`${this.#name} has come meanwhile and stays: the whole export is in ${this.partial}`);
    await rename(this.partial, this.#name);
  }

  /** Removes what is written of a file that will not be whole. */
  async drop(): Promise<void> {
    await rm(this.partial, { force: true });
  }
}

async function existing(path: string) {
  return stat(path).catch(() => null);
}
