import type { Row } from "../queue.ts";

/** The whole input of a call, by parameter. */
export type WholeInput = Readonly<Record<string, unknown>>;

/**
 * The input of a row; null if the list has only its beginning. A person who decides on many must see each of them whole.
 */
export function wholeInput({ toolCall }: Row): WholeInput | null {
  const preview = toolCall?.inputPreview ?? null;
  if (preview === null || !preview.startsWith("{")) return null;
  try {
    return JSON.parse(preview) as WholeInput;
  } catch {
    // It was cut.
    return null;
  }
}

const shapes = new WeakMap<Row, { readonly shape: string | null }>();

/**
 * Equal for questions that are alike: one template, folder, tool, rule and risk, and inputs of one shape. Null for a question
 * that is decided alone: another kind, words of a hook, an edited input, or an input that the list does not show whole.
 */
export function shapeOf(row: Row): string | null {
  const known = shapes.get(row);
  if (known !== undefined) return known.shape;
  const shape = readShape(row);
  shapes.set(row, { shape });
  return shape;
}

function readShape(row: Row): string | null {
  const facts = commonFacts(row);
  const input = wholeInput(row);
  if (facts === null || input === null) return null;
  const parameters = Object.keys(input).toSorted();
  return JSON.stringify([...facts, parameters.map((name) => [name, valueShape(name, input[name])])]);
}

/** The facts that alike questions have in common besides their inputs; null for a question that is decided alone in any case. */
export function commonFacts(row: Row): readonly unknown[] | null {
  const { kind, toolCall, agent, risk, quorum, hasEditedInput, meta, inputHash } = row;
  if (kind !== "TOOL_CALL" || hasEditedInput || meta !== null || inputHash === null) return null;
  const explanation = toolCall?.explanation ?? null;
  if (toolCall === null || explanation === null) return null;
  const { rule, place } = explanation;
  return [agent.template.templateId, agent.workspace, toolCall.name, rule, place, risk, quorum];
}

/** Numbers, switches and structures must be equal. Texts may differ, but in their programs, folders and hosts. */
function valueShape(name: string, value: unknown): unknown {
  if (typeof value !== "string") return value;
  if (name === "command") return commandShape(value);
  const host = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i.exec(value)?.[0];
  if (host !== undefined) return `at ${host}`;
  const folder = /^(?=[^\s]*$)(.*\/)[^/]*$/.exec(value)?.[1];
  return folder === undefined ? "text" : `in ${folder}`;
}

/** Programs that run the program of a further word. Commands with one of them are alike only if they are equal. */
const CARRIERS = new Set(
  "sudo doas su env timeout nice ionice nohup setsid time watch xargs parallel find exec command eval source sh bash dash zsh ssh chroot flock stdbuf strace unshare nsenter bwrap systemd-run npx uvx".split(
    " ",
  ),
);
/** A word without a dot, a slash or a capital letter may be a program or its subcommand. */
const PLAIN = /^[a-z][a-z0-9-]*$/;

/** The programs of a command with their switches and the signs between them. Names of files may differ. */
function commandShape(command: string): string {
  // Substitutions, quotes and line ends hide programs: such commands are alike only if they are equal.
  if (/[`$"'\\\n(){}<>*?~]/.test(command)) return command;
  const words = command.trim().split(/\s+/);
  if (words.some((word) => CARRIERS.has(word.split("/").at(-1) ?? ""))) return command;
  let isProgram = true;
  return words
    .map((word) => {
      const isSign = /^(?:&&|\|\||[|;&])$/.test(word);
      const isKept = isSign || isProgram || PLAIN.test(word) || /^[-+]/.test(word) || /[=;&|]/.test(word);
      isProgram = isSign || (isProgram && word.includes("="));
      return isKept ? word : folderOf(word);
    })
    .join(" ");
}

function folderOf(word: string): string {
  const end = word.lastIndexOf("/");
  return end < 0 ? "…" : `${word.slice(0, end + 1)}…`;
}

/** A parameter of alike inputs: its common beginning and end, and the parts in which the inputs differ, in their order. */
export type Compared = {
  readonly name: string;
  readonly before: string;
  readonly after: string;
  /** One for each input; null if all are equal. */
  readonly parts: readonly string[] | null;
};

/** The parameters of alike inputs, with their differences. */
export function compared(inputs: readonly WholeInput[]): readonly Compared[] {
  const names = [...new Set(inputs.flatMap((input) => Object.keys(input)))];
  return names.map((name) => {
    const texts = inputs.map((input) => textOf(input[name]));
    const [first = ""] = texts;
    if (texts.every((text) => text === first)) return { name, before: first, after: "", parts: null };
    const words = texts.map(wordsOf);
    const most = Math.min(...words.map(({ length }) => length));
    const before = commonWords(words, most);
    const after = commonWords(
      words.map((each) => each.toReversed()),
      most - before.length,
    ).toReversed();
    return {
      name,
      before: before.join(""),
      after: after.join(""),
      parts: words.map((each) => each.slice(before.length, each.length - after.length).join("")),
    };
  });
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Words, folders and the signs between them: a name is shown whole. */
function wordsOf(text: string): readonly string[] {
  return text.split(/(?<=[\s/])/);
}

function commonWords(all: readonly (readonly string[])[], most: number): readonly string[] {
  const [first = []] = all;
  let count = 0;
  while (count < most && all.every((each) => each[count] === first[count])) count += 1;
  return first.slice(0, count);
}
