import { READERS, READERS_OF_GIT } from "../../src/agent/bash/table.ts";
import type { CommandForm } from "../../src/agent/bash/command-form.ts";
import type { Random } from "../hands/random.ts";

const NAMES =
  "README.md src/a.ts src docs . ./ - ./- -n ./-n --output=x @args sub sub/f.txt link.txt inside inside/a.ts out out/secret.txt docs/plain.txt .env conf/.env conf keys keys/key.pem .npmrc .git .git/config ../outside/secret.txt .. node_modules/x /dev/stdout /etc/passwd /dev/null /dev/zero /dev/stdin /dev/urandom /proc/self/environ missing src/../README.md inside/../.env package.json HEAD HEAD~1 main HEAD:README.md HEAD:.env :0:README.md main..HEAD".split(
    " ",
  );
const PATTERNS =
  "* *.md src/*.ts src/{a,b}.ts .e* ?env [.]env {README.md,.env} */a.ts *.txt [[]ab].txt {1..3} src/? * */.env **/* -* inside/* .en[[:alpha:]] .en[]v] .en{},}v out[[:alpha:]] [[:punct:]]* lin{},}k.txt node_modules/x/* sub/.e*".split(
    " ",
  );
const QUOTED = [
  "'a b.txt'",
  '"{a,b}.txt"',
  "'[ab].txt'",
  "é.txt",
  "a\\ b.txt",
  "$'src/a.ts'",
  'sr"c"/a.ts',
  '"$PWD/README.md"',
  "~/x",
  "$HOME",
  "${X:-.env}",
  "$(echo .env)",
  "`echo .env`",
  "$'\\x2eenv'",
  "./'-'",
  '"-"',
];
const VALUES =
  "1 2 5 3 -1 abc TODO . ts md never always %h %H%n %an %G? %(trailers) short iso HEAD src README.md -n - 1,3 2,+1 1,5:README.md :a:README.md *.ts '*' '' x=y = f d +1 -5 10k 80 %s %F".split(
    " ",
  );
const SCRIPTS = ["1p", "1,3p", "$p", "'1,$p'", "'1p;2p'", "p", "1w x", "'1e touch x'", "'1,2!p'", "r.env", "'$!N'", "5q"];
const FORMATS = [
  "'%s\\n'",
  "%d",
  "'%s %s\\n'",
  "%n",
  "'%5.2f'",
  "%99999s",
  "'%b'",
  "'%(%s)T'",
  "%q",
  "'%*d'",
  "+%F",
  "+%s",
  "-s",
  "x",
];

/** Options and commands that the list does not have, since they write, run, reach out or show what is elsewhere. */
const OTHERS =
  "sort -o x README.md|sort --compress-program=touch README.md|sort -T . README.md|find . -delete|find . -exec cat {} ;|find -L out|find . -fprint x|find . -newer .env|grep -f .env README.md|rg --pre cat a|rg -f .env|sed -i s/a/b/ README.md|sed -n w\\ x README.md|awk 1 .env|awk 'BEGIN{system(\"touch x\")}'|jq . .env|tee x|cp .env x|xargs cat|npm ls|npm root|pip list --outdated|node --version|env|printenv|ps -ef|curl http://127.0.0.1:4999/|git -c core.pager=x log|git --git-dir=sub/.git log|git diff --output=x|git diff --no-index .env README.md|git diff --ext-diff|git log --textconv -p|git show --submodule=diff|git describe --dirty|git branch x|git tag x|git remote add x y|git config -l|git stash|git submodule status|git archive HEAD|git cat-file -p HEAD|git grep -O|git ls-files -m -o|date -s 0|printf -v x y|read x|source README.md|exec cat .env|bash README.md|eval cat .env|trap 'touch x' EXIT|yes|tail -f README.md|cat < .env|touch x|mkdir x|rm README.md|ln -s .env y|uniq README.md x|xxd README.md x|tree -o x|du --files0-from=.env|wc --files0-from=.env|file -f .env|ls -R out|stat -f .|hostname x|hash -p bin/rg ls|alias ls=touch|enable -n echo|command ls|builtin cd out|cd out|pushd src|cat -- .env|test -v 'a[$(touch x)]'|[ -v 'a[$(touch x)]' ]|test 'a[$(touch x)]' -eq 1".split(
    "|",
  );
const SOUP =
  "; && || | & |& ( ) { } < > >> <& >& &> 2>&1 <<EOF <<'EOF' <<<  \n EOF # \\ \\\n ! time if then fi for do done while [[ ]] (( )) $(( )) $( ) ` ' \" $' $\" \r \t \u00a0 \u2028 = X=1 PATH=. - -- -e -n . .. ~ * ? [a] {a,b} cat ls echo printf git status test .env README.md src touch x".split(
    " ",
  );
const REDIRECTS = [
  "2>&1",
  "2>/dev/null",
  ">/dev/null",
  "< README.md",
  "< -",
  "< .env",
  "> x",
  ">> -",
  "&> x",
  "<<< text",
  "2> -",
  "<> README.md",
  "< link.txt",
  ">| x",
  "0< docs/plain.txt",
  "3<.env <&3",
  "> /dev/null 2>&1",
  "< /dev/zero",
];

const READING = Object.entries(READERS);
const READING_OF_GIT = Object.entries(READERS_OF_GIT);

/** A command line: mostly of what the list has, with odd names, quotes, redirections and substitutions. */
export function generatedLine(random: Random): string {
  switch (random.number(12)) {
    case 0:
      return soup(random);
    case 1:
      return `${command(random)} | ${command(random)}`;
    case 2:
      return `${command(random)}${random.of([" && ", "; ", " || ", "\n", " ;\\\n"])}${command(random)}`;
    case 3:
      return `cd ${operand(random)} && ${command(random)}`;
    case 4:
      return `${command(random)} <<${random.of(["EOF", "'EOF'", "-EOF"])}\n${random.of(["text", "$(cat .env)", "`touch x`", "$HOME"])}\nEOF`;
    case 5:
      return `${random.of(["timeout 5", "nice -n 5", "time", "!", "nohup", "X=1", "LC_ALL=C", "env", "sudo", "command"])} ${command(random)}`;
    default:
      return command(random);
  }
}

function command(random: Random): string {
  const line = random.once(12) ? random.of(OTHERS) : random.once(3) ? ofGit(random) : reader(random);
  return random.once(6) ? `${line} ${random.of(REDIRECTS)}` : line;
}

function reader(random: Random): string {
  const [name, form] = random.of(READING);
  return [name, ...words(random, form)].join(" ");
}

function ofGit(random: Random): string {
  const [name, form] = random.of(READING_OF_GIT);
  const before = random.once(5)
    ? [random.of(["--no-pager", "-C src", "-C sub", "-C node_modules/x", "-C inside", "-C out", "-P", "-C -", "-p"])]
    : [];
  return ["git", ...before, name, ...words(random, form)].join(" ");
}

function words(random: Random, form: CommandForm): readonly string[] {
  const found: string[] = form.needs === null ? [] : [form.needs];
  const [flags, valued] = [[...form.flags], [...form.valued.keys()]];
  for (let left = random.number(3); left > 0; left -= 1)
    if (flags.length > 0 && (valued.length === 0 || random.once(2))) found.push(random.of(flags));
    else if (valued.length > 0) {
      const option = random.of(valued);
      const isJoined = form.optional.has(option) || random.once(3);
      found.push(
        isJoined ? `${option}${option.startsWith("--") ? "=" : ""}${random.of(VALUES)}` : `${option} ${random.of(VALUES)}`,
      );
    }
  for (const use of form.operands.slice(0, -1)) found.push(wordOf(random, use));
  const last = form.operands.at(-1);
  if (last !== undefined) found.push(...Array.from({ length: random.number(4) }, () => wordOf(random, last)));
  if (random.once(20)) found.push("--", operand(random));
  return found;
}

function wordOf(random: Random, use: CommandForm["operands"][number]): string {
  switch (use) {
    case "line numbers":
      return random.of(SCRIPTS);
    case "printf format":
    case "date format":
      return random.of(FORMATS);
    case "text":
      return random.once(3) ? operand(random) : random.of(VALUES);
    default:
      return operand(random);
  }
}

function operand(random: Random): string {
  const kind = random.number(10);
  return kind < 7 ? random.of(NAMES) : kind < 9 ? random.of(PATTERNS) : random.of(QUOTED);
}

function soup(random: Random): string {
  return Array.from({ length: 2 + random.number(8) }, () => random.of(SOUP)).join(random.of([" ", " ", ""]));
}
