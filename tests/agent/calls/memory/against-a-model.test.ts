import fc from "fast-check";
import { expect, it } from "vitest";
import { agentMemory } from "../../../../src/agent/calls/memory/agent-memory.ts";
import { MEMORY_SETTINGS } from "../../../../src/agent/calls/memory/memory-rows.ts";
import { memoryTool } from "../../../../src/agent/tools/memory/memory.ts";
import type { JsonObject } from "../../../../src/lib/json.ts";
import { complete } from "../../../../src/lib/setting.ts";
import { testDatabase } from "../../../support/database.ts";
import { playedModel, says } from "../../../support/models.ts";
import { contextIn } from "../../../support/run-tool.ts";
import { testServices } from "../../../support/services.ts";
import { testTemplate } from "../../../support/template.ts";

/** A memory as plain texts by path: what the rows must be like after each command. */
class Reference {
  readonly texts = new Map<string, string>();

  /** False for a command that is refused. */
  apply({ command, path = "", file_text = "", old_str = "", new_str = "", old_path = "", new_path = "" }: Input): boolean {
    switch (command) {
      case "create":
        if (this.#isTaken(path)) return false;
        this.texts.set(path, file_text);
        return true;
      case "str_replace": {
        const text = this.texts.get(path);
        if (text === undefined || text.split(old_str).length !== 2) return false;
        this.texts.set(path, text.split(old_str).join(new_str));
        return true;
      }
      case "insert": {
        const text = this.texts.get(path);
        if (text === undefined) return false;
        this.texts.set(path, `${new_str}\n${text}`);
        return true;
      }
      case "delete":
        return this.#move(path, () => null);
      case "rename":
        if (this.#isTaken(new_path) || `${new_path}/`.startsWith(`${old_path}/`)) return false;
        return this.#move(old_path, (rest) => new_path + rest);
    }
  }

  #isTaken(path: string): boolean {
    return [...this.texts.keys()].some((other) => `${other}/`.startsWith(`${path}/`) || `${path}/`.startsWith(`${other}/`));
  }

  #move(path: string, to: (rest: string) => string | null): boolean {
    const found = [...this.texts].filter(([other]) => `${other}/`.startsWith(`${path}/`));
    for (const [other, text] of found) {
      this.texts.delete(other);
      const moved = to(other.slice(path.length));
      if (moved !== null) this.texts.set(moved, text);
    }
    return found.length > 0;
  }
}

type Input = {
  readonly command: "create" | "str_replace" | "insert" | "delete" | "rename";
  readonly path?: string;
  readonly file_text?: string;
  readonly old_str?: string;
  readonly new_str?: string;
  readonly old_path?: string;
  readonly new_path?: string;
};

const NAME = fc.constantFrom("a", "b", "A", "ab");
const PATH = fc.array(NAME, { minLength: 1, maxLength: 3 }).map((names) => `/memories/${names.join("/")}`);
const TEXT = fc.constantFrom("one", "two one", "$&", "o\nne", "x");
const INPUT: fc.Arbitrary<Input> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ command: fc.constant("create" as const), path: PATH, file_text: TEXT }) },
  fc.record({ command: fc.constant("str_replace" as const), path: PATH, old_str: TEXT, new_str: TEXT }),
  fc.record({ command: fc.constant("insert" as const), path: PATH, new_str: TEXT }),
  fc.record({ command: fc.constant("delete" as const), path: PATH }),
  { weight: 2, arbitrary: fc.record({ command: fc.constant("rename" as const), old_path: PATH, new_path: PATH }) },
);

function inputOf({ command, new_str, ...input }: Input): JsonObject {
  if (command === "insert") return { command, ...input, insert_line: 0, insert_text: new_str ?? "" };
  return { command, ...input, ...(new_str === undefined ? {} : { new_str }) };
}

it("any commands, one after the other, leave the texts that a plain memory would have; versions only rise", async () => {
  const { sql } = await testDatabase();
  const services = testServices(
    sql,
    playedModel(() => says("Done.")),
  );
  const never = new AbortController().signal;
  const template = { id: "assistant", memory: complete(MEMORY_SETTINGS, {}) };
  let runs = 0;
  let changes = 0;
  const read = {
    name: "read_all",
    text: 'SELECT path, text, id, version FROM memory_entry WHERE requester = $1 AND deleted_at IS NULL ORDER BY path COLLATE "C"',
  };
  type Row = { path: string; text: string; id: string; version: number };
  const property = fc.asyncProperty(fc.array(INPUT, { maxLength: 12 }), async (inputs) => {
    const createdBy = `requester-${(runs += 1)}`;
    const reference = new Reference();
    const versions = new Map<string, number>();
    for (const [index, input] of inputs.entries()) {
      const memory = agentMemory({
        sql,
        agent: { id: "a", tenant: "one", createdBy },
        template,
        permissions: () => ({ permission: testTemplate().permission, bounds: [] }),
        callId: `call-${index}`,
        values: null,
        ended: never,
        lost: never,
        commit: async ({ change, event }) => {
          const at = new Date();
          const done = { ...change, answer: null, at: at.toISOString() };
          return (await services.log.commitTenant("one", [{ at, body: event }], { memory: done })).outcome === "COMMITTED";
        },
      });
      const bound = memoryTool.bind(inputOf(input));
      if (!bound.ok) throw new Error(JSON.stringify(bound.refusal));
      const isDone = await bound.value.run(contextIn("/tmp", { memory })).then(
        () => true,
        () => false,
      );
      changes += isDone ? 1 : 0;
      expect(isDone, JSON.stringify(inputs.slice(0, index + 1))).toBe(reference.apply(input));
      const rows = await sql.query<Row, [string]>(read, [createdBy]);
      expect(rows.map(({ path, text }) => [path, text])).toEqual(
        [...reference.texts].toSorted(([one], [other]) => (one < other ? -1 : 1)),
      );
      for (const { id, version } of rows) {
        expect(version).toBeGreaterThanOrEqual(versions.get(id) ?? 1);
        versions.set(id, version);
      }
    }
  });
  await fc.assert(property, { numRuns: 100 });
  expect(changes).toBeGreaterThan(100);
});
