import { form, type CommandForm } from "./command-form.ts";

/** Commands that change the files that they name. None runs unasked; `*` of an allow rule stands for these options of them. */
export const WRITING: Readonly<Record<string, CommandForm>> = {
  mkdir: form({ effect: "writes", flags: "-p -v --parents", text: "-m", operands: ["write"] }),
  rmdir: form({ effect: "writes", flags: "-p -v", operands: ["write"] }),
  touch: form({ effect: "writes", flags: "-a -m -c", operands: ["write"] }),
  rm: form({ effect: "writes", flags: "-v -i -f -r -R", operands: ["write"], enters: "-r -R" }),
  cp: form({ effect: "writes", flags: "-p -n -v -i -f", operands: ["read"], last: "write", putsIntoFolder: true }),
  mv: form({ effect: "writes", flags: "-n -v -i -f", operands: ["write"], putsIntoFolder: true }),
  tee: form({ effect: "writes", flags: "-a --append", operands: ["write"] }),
};

/** Commands of a program that run what the workspace says, as hooks and scripts are: none of them is ever proved. */
const running = (flags: string, text = ""): CommandForm => form({ effect: "runs", flags, text, takesNames: true });

export const WRITING_OF_GIT: Readonly<Record<string, CommandForm>> = {
  add: running("-A --all -u --update -v -n"),
  commit: running("-q --quiet -a --all", "-m --message"),
  checkout: running("-q --quiet -b"),
  switch: running("-q --quiet -c"),
  fetch: running("--all --tags -q --quiet"),
  pull: running("--ff-only --rebase -q --quiet"),
  push: running("-u --set-upstream -q --quiet"),
};

export const WRITING_OF_NPM: Readonly<Record<string, CommandForm>> = {
  test: running("--silent -s"),
  run: running("--silent -s"),
};
