import { Session, type Profiler } from "node:inspector";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";

/** V8's precise coverage, between two moments of this process. */
export class Coverage {
  readonly #session = new Session();
  readonly #root: string;
  readonly #wing: string;

  /** Files count whose path, relative to `root`, begins with `wing`. */
  constructor(root: string, wing: string) {
    this.#root = root;
    this.#wing = wing;
    this.#session.connect();
    this.#post("Profiler.enable");
    this.#post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  }

  /** Functions that ran before do not count. */
  begin(): void {
    this.#post("Profiler.takePreciseCoverage");
  }

  /** The functions of the wing that ran since, by file. What a file does when it is loaded is none. */
  end(): ReadonlyMap<string, ReadonlySet<string>> {
    const { result } = this.#post("Profiler.takePreciseCoverage") as Profiler.TakePreciseCoverageReturnType;
    const ran = result
      .filter(({ url }) => url.startsWith(`file://${this.#root}${this.#wing}`))
      .map(({ url, functions }) => {
        const names = functions.filter(({ functionName, ranges: [whole] }) => functionName !== "" && (whole?.count ?? 0) > 0);
        return [relative(this.#root, fileURLToPath(url)), new Set(names.map(({ functionName }) => functionName))] as const;
      });
    return new Map(ran.filter(([, names]) => names.size > 0));
  }

  #post(method: string, parameters: object = {}): unknown {
    let answer: unknown;
    this.#session.post(method, parameters, (error: Error | null, result: unknown) => {
      if (error !== null) throw error;
      answer = result;
    });
    return answer;
  }
}
