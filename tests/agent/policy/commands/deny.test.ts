import { describe, expect, it } from "vitest";
import { commandJudge, projectFolder } from "../../../support/command-lines.ts";

const RULES = ["rm *", "git push *", "curl"].map((rule) => `shell(command:${rule})`);

/** Wherever a command can stand: `X` is the place. */
const PLACES = String.raw`
X
ls; X
ls && X
ls || X
ls | X
X | ls
X &
X; ls
(X)
{ X; }
( ( X ) )
! X
time X
if X; then ls; fi
if ls; then X; fi
if ls; then ls; else X; fi
if ls; then ls; elif X; then ls; fi
while X; do ls; done
while ls; do X; done
until ls; do X; done
for i in 1 2; do X; done
for ((i=0; i<1; i++)); do X; done
select i in 1; do X; done
case x in x) X;; esac
f() { X; }; f
function f { X; }
coproc X
[[ -f x ]] && X
(( 1 )) && X
echo $(X)
echo "$(X)"
echo "a $(echo "$(X)") b"
echo ${"`"}X${"`"}
echo <(X)
cat <<< $(X)
cat <<EOF
$(X)
EOF
x=$(X)
A=1 X
A=$(X) ls
echo ${"$"}{x:-$(X)}
echo $((1 + $(X)))
ls > $(X)
X > /dev/null 2>&1
2>/dev/null X
sudo X
sudo -u root X
sudo -E -n -- X
doas X
env X
env A=1 B=2 X
env -i -u PATH X
env -S 'X'
env -vS 'X'
env -iS'X'
env --split='X'
env 'A=1' sudo X
env "A=1" sh -c 'X'
GIT_PAGER='X' git log
GIT_EDITOR="X" git commit
LESSOPEN='|X' less a
PAGER='X'; export PAGER; man ls
export GIT_SSH_COMMAND='X'
declare -x VISUAL='X'
env 'EDITOR=X' git commit
sudo EDITOR='X' visudo
sh -c "GIT_PAGER='X' git log"
/usr/bin/env X
xargs X
xargs -n 1 -I{} X
ls | xargs -0 X
ls | xargs -n1 X
ls | xargs -0r -P4 X
ls | xargs -rn 1 X
ls | xargs -d '\n' -a list -- X
ls | xargs -I{} X {}
ls | xargs -i X {}
ls | xargs -I % X %
ls | xargs --no-run-if-empty --max-args=1 --max-procs 2 X
ls | xargs --max-arg 1 X
ls | xargs -l X
ls | xargs -n1 sudo X
ls | xargs -I{} sh -c 'X; ls {}'
ls | xargs -I% bash -lc 'X; ls %'
ls | xargs -I{} eval 'X; ls {}'
nice X
nice -n 10 X
nohup X &
timeout 5 X
timeout -k 1 -s KILL 5s X
stdbuf -oL X
setsid -w X
ionice -c 3 X
command X
command -p X
builtin X
exec X
exec -a name X
eval X
eval "X"
eval 'ls; X'
sh -c 'X'
bash -c "X"
bash -lc "ls && X"
bash --norc -e -c 'X'
/bin/sh -c 'X'
sh -c "bash -c 'X'"
sudo sh -c "X"
nohup timeout 5 sh -c "X"
sh <<< 'X'
bash <<'EOF'
X
EOF
echo 'X' | sh
echo "ls; X" | bash -s
cat <<'EOF' | sh
X
EOF
find . -exec X {} \;
find . -execdir X {} +
find . -ok X \;
find . -exec sh -c 'X' \;
parallel X
watch X
watch -n 1 'X'
ssh host X
ssh host 'cd x; X'
su -c 'X'
su root -c "X"
script -c 'X' log
script -qc 'X' log
su -lc 'X'
su --comm='X'
compgen -C 'X'
mapfile -C 'X' -c 1 x
readarray -tC 'X' x
flock x X
chroot x X
strace -f X
busybox X
trap 'X' EXIT
alias l='X'
git -c alias.y='!X' y
git bisect run X
git rebase --exec 'X' main
git rebase -ix 'X' main
git rebase -x'X' main
git rebase --exe='X' main
git filter-branch --tree-filter 'X' HEAD
git filter-branch --msg='X'
git grep -lO'X' a
git grep --open-files-in-pager='X' a
git difftool --extcmd 'X'
git clone -u 'X' a b
git submodule foreach 'X'
git submodule foreach -q 'X'
git submodule foreach --recursive --quiet X
git config alias.y '!X'
docker exec box X
npx -c 'X'
bash -c -o pipefail -o errexit 'X'
bash -c -o pipefail -O a -O b -O c -O d -O e -O f -O g -O h 'X'
csh -c 'X'
pwsh -c 'X'
pwsh -Command 'X'
pwsh -com X
osh -c 'X'
bash-5.2 -c 'X'
ksh93 -c 'X'
fish --command='X'
at now <<< 'X'
echo 'X' | batch
fd --exec=X
fdfind x -x X
[ -v 'a[$(X)]' ]
printf -v 'a[$(X)]' x
read 'a[$(X)]' <<< 1
let 'a[$(X)]'
declare 'a[$(X)]=1'
x='a[$(X)]'; echo $((x))
x=('a[$(X)]'); ((x))
x='a[$(cd "$(pwd)"; X)]'; ((x))
x='a[$( (X) )]'; ((x))
x='a[$(sudo X)]'; ((x))
x='a[${"$"}{ X; }]'; ((x))
x='a[$(X'; x+=')]'; ((x))
x='$(X)'; echo "${"$"}{x@P}"
PS4='${"`"}X${"`"}'; set -x; ls
[[ -v 'a[$(X)]' ]]
[[ 'a[$(X)]' -eq 0 ]]
(( 'a[$(X)]' ))
echo $(('a[$(X)]'))
echo $(( "a[\$(X)]" ))
echo ${"$"}{x:'a[$(X)]'}
for x in 'a[$(X)]'; do ((x)); done
f() { echo $(($1)); }; f 'a[$(X)]'
f() { declare "$1=1"; }; f 'a[$(X)]'
read x <<< 'a[$(X)]'; ((x))
: 'a[${"`"}X${"`"}]'; echo $(($_))
getopts a 'x[$(X)]'
sed '1e X' a
sed -n -e '1 e X' a
sed --expr='$!{e X' a
sed -l 5 '1e X' a
sed -i.bak -E 's/a/b/;e X' a
sed 's,.*,X,e' a
sed -n ':x s,.*,X,e' a
sed "s|.*|X|ge" a
awk 'BEGIN{system("X")}'
awk -v a=1 'BEGIN { print | "X" }'
gawk -e '"X" | getline' a
valgrind X
uv run X
uncommon -- X
uncommon sub exec -- sudo X
uncommon exec there X
uncommon run --quick X
uncommon -c 'X'
uncommon run --command 'X'
uncommon --exec='X'
ccache X
envdir e X
cmd /c X
tmux new -d 'X'
tmux send-keys 'X' Enter
screen -dm X
concurrently 'X' ls
nodemon -e ts -x 'X'
start-stop-daemon --start --exec X
ssh -o ProxyCommand='X ' h
socat - system:'X -'
strace -o '|X' ls
tar --checkpoint-action=exec='X -' -cf a b
sg a 'X'
bundle exec X
hyperfine 'X'
tar --to-command='X' -xf a.tar
split --filter 'X' a
unshare -r X
ls
X
ls # comment
X
ls \
  ; X
X 'unterminated
X )
if X
ls; X "
) X
ls;; X
`
  // A line and its here-document, or its second line, belong together.
  .replace(/(.*<<'?EOF'?.*)\n(.*)\nEOF\n/g, "$1\u0000$2\u0000EOF\n")
  .replace("ls\nX\nls # comment\nX\nls \\\n  ; X", "ls\u0000X\nls # comment\u0000X\nls \\\u0000  ; X")
  .split("\n")
  .flatMap((line) => (line === "" ? [] : [line.replaceAll("\u0000", "\n")]));

describe("a deny rule for commands", () => {
  it("finds the command wherever it stands, in lines that do not parse, too, in mode auto", async () => {
    const judge = commandJudge(await projectFolder(), { mode: "auto", deny: RULES });
    const missed: string[] = [];
    for (const command of ["rm -rf src", "git push origin main", "/usr/bin/curl x"])
      for (const place of PLACES) {
        const { verdict } = await judge(place.replaceAll("X", command));
        if (verdict !== "deny") missed.push(`${verdict}: ${place.replaceAll("X", command)}`);
      }
    console.log(`${PLACES.length} places × 3 commands: ${missed.length} not denied`);
    expect(PLACES.length).toBeGreaterThan(100);
    expect(missed).toEqual([]);
  });

  it.each([
    ["rm -rf *", "rm -fr x"],
    ["rm -rf *", "rm -r -f x"],
    ["rm -rf *", "rm x -rf"],
    ["rm -rf *", "rm --recursive --force x"],
    ["rm -rf *", "rm -Rvf x"],
    ["git push --force *", "git push origin main --force"],
    ["git push --force *", "git push -f origin main"],
    ["git push --force *", "git -C sub --no-pager push --force"],
    ["git push *", "git -c a.b=c push"],
    ["git push *", "git --git-dir x push origin"],
    ["git push *", "git -c alias.p=push p"],
    ["git push *", "git -c ALIAS.p='push origin' p"],
    ["git push *", "git config alias.p push; git p"],
    ["git push", "git push origin main"],
    ["git push", "/usr/lib/git-core/git-push origin"],
    ["git push", "git for-each-repo --config=x push"],
    ["git * --hard", "git reset --hard HEAD~1"],
    ["npm publish *", "npm --prefix x publish"],
    ["npm publish *", "npm --silent publish"],
    ["make clean *", "make X=1 clean"],
    ["{rm,mv} *", "mv a b"],
    ["PATH=* *", "PATH=. ls"],
    ["rm", 'ls; r"m"\\'],
    ["./deploy.sh *", "./deploy.sh prod"],
    ["deploy.sh *", "./scripts/deploy.sh prod"],
  ])("%s speaks of %s", async (rule, line) => {
    const judge = commandJudge(await projectFolder(), { mode: "auto", deny: [`shell(command:${JSON.stringify(rule)})`] });
    expect((await judge(line)).verdict).toBe("deny");
  });

  it.each([
    ["rm *", "echo rm"],
    ["rm *", "git rm x"],
    ["rm *", "grep -rn 'rm -rf' src"],
    ["rm *", "git commit -m 'rm x; rm y'"],
    ["rm -rf *", "rm x"],
    ["git push *", "git commit -m push"],
    ["git push *", "git status"],
    ["git push *", "git clean -fdx src"],
    ["git push *", "git log --oneline -S'x('"],
    ["git push *", "git -c alias.s=status s"],
    ["git push *", "git -c user.name=x -c color.ui=never commit -c HEAD"],
    ["git push *", "git switch -c topic"],
    ["git push *", "env -i make"],
    ["git push --force *", "git push origin main"],
    ["npm publish *", "npm run publish"],
    ["curl", "echo 'curl | sh' > notes.md"],
  ])("%s leaves %s alone", async (rule, line) => {
    const judge = commandJudge(await projectFolder(), { mode: "auto", deny: [`shell(command:${JSON.stringify(rule)})`] });
    expect((await judge(line)).verdict).toBe("allow");
  });

  it("is not allowed behind an option, or in a value, that only the shell or xargs knows", async () => {
    const judge = commandJudge(await projectFolder(), { mode: "auto", deny: RULES });
    for (const line of [
      "echo -exec | xargs -I{} find . -maxdepth 0 {} git push ';'",
      "echo exec | xargs -I@ find . -maxdepth 0 -@ git push ';'",
      "echo -c | xargs -I{} script -q {} 'git push' /dev/null",
      "echo filter | xargs -i split --{}='git push' README.md",
      "echo x | xargs -I@ git rebase -@ 'git push' main",
      "xargs -I@ git submodule @ 'git push'",
      "nice -n {1,git,push} echo x",
      "X=-exec; find . -maxdepth 0 $X git push ';'",
      "timeout -k $(echo 1 5 git push) 5 npm test",
    ])
      expect((await judge(line)).verdict, line).not.toBe("allow");
  });

  it("is asked about, in mode auto and beside an allow rule for the tool, what may be, or hide, such a command", async () => {
    const judge = commandJudge(await projectFolder(), { mode: "auto", deny: RULES, allow: ["shell"] });
    const hiding = [
      "$X -rf src",
      "$(echo rm) -rf src",
      "r{m,x} y",
      'sh -c "$X"',
      "eval $X",
      "source x.sh",
      ". x",
      "git $X",
      "xargs git",
      "xargs -I{} git {} <<< push",
      "xargs -0I% git % main",
      "xargs --replace git {}",
      "xargs -I s git pussh",
      "xargs -n1 git",
      "xargs -0 -r sh",
      "xargs -I{} sh -c {}",
      "xargs -I{} sh -c 'cd x && {}'",
      "xargs -I{} {} push",
      "xargs -i{} env {} push",
      "xargs -J % git % main",
      "xargs -iX git X",
      "xargs -I '' git status",
      "xargs -n $X git status",
      "xargs --repl=status git status",
      "xargs --process-slot-var=PATH -I{} ls {}",
      "parallel git {} ::: push",
      "hash -p /usr/bin/git gg; gg push",
      "git --config-env=alias.p=P p",
      "git -c core.pager='git push' log",
      "git -C web -c diff.external=./x diff",
      "git -c include.path=../x status",
      "git -c $X status",
      "git --git-dir=evil p",
      "sh < x.sh",
      "<&-git push",
      '3<&-"curl" x',
      "bash -s < x.sh",
      "sh 3< x.sh <&3",
      "bash < <(cat x)",
      "exec < x.sh; sh",
      "{ sh; } < x.sh",
      "cat x.sh | { sh; }",
      "sudo sh < x.sh",
      "at -f x.sh now",
      "find push -exec git {} ';'",
      "fd -x git {}",
      "fd push -x git",
      "fd push --exec git {/.}",
      "fd push -xgit",
      "sed 's/a/b/e' x",
      "sed '/a/,/b/s,a,b,Ie' x",
      "sed -f x.sed y",
      "sed -e 's/a/\\' -e 'b/e' x",
      `sed "1e $X" x`,
      'sed "$X" x',
      "awk -f x.awk y",
      `awk 'BEGIN { system("git " "push") }'`,
      "awk '{print $1|c}' x",
      "gawk '@load \"x\"'",
      "env -S 'git\\_push'",
      "env --split-string='git\\_push'",
      "shopt -s expand_aliases\nalias g=git\ng push",
      "git --exec-path=. p",
      "git clone -c core.pager=./x a",
      "git clone --config=core.fsmonitor=./x a",
      "git config core.fsmonitor ./x",
      "git config --global set core.pager ./x",
      "git config $X y",
      "<&-git push",
      "cat 3<&-git push",
      "echo x >&'$(git push)'",
      'echo x >&"\\$(git push)"',
      "echo x >&'`git push`'",
      "sh -c '<&-git push'",
      "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0=push git x",
      "GIT_CONFIG_VALUE_0=push git x",
      "GIT_CONFIG_PARAMETERS=\"'alias.x'='push'\" git x",
      "GIT_CONFIG_GLOBAL=x git y",
      "GIT_DIR=x git y",
      "GIT_WORK_TREE=x git y",
      "GIT_EXEC_PATH=. git y",
      "GIT_PAGER=./x git log",
      "GIT_PAGER=$X git log",
      "GIT_PAGER+=x git log",
      "EDITOR='less -K x' git commit",
      "PATH=. git status",
      "PATH=.; git status",
      'export PATH="$PWD/bin:$PATH"',
      "HOME=x git p",
      "LD_PRELOAD=./x ls",
      "BASH_ENV=x bash -c ls",
      "GIT_EXTERNAL_DIFF=./x git diff",
      "BASH_ALIASES[l]='git push'",
      "BASH_CMDS[gg]=/usr/bin/git; gg push",
      ": ${BASH_CMDS[gg]:=/usr/bin/git}; gg push",
      'echo "${PATH=.}"; git x',
      "enable -f ./x.so gg",
      "NODE_OPTIONS='--require ./x' npm test",
      "export GIT_EDITOR",
      "export $X",
      'export "$X=y"',
      "declare -x GIT_EDITOR=./x",
      "typeset -x PAGER",
      "declare -nx r=GIT_EDITOR; r=./x",
      "local -n r=PATH",
      "readonly PATH=.",
      "read PATH <<< .",
      "read -r a PATH <<< 'x .'",
      "read $X <<< .",
      "mapfile -t PATH < x",
      "printf -v PATH .",
      "unset PATH",
      "env PATH=. git status",
      "env 'GIT_DIR=x' git y",
      "env -i 'PATH=.' git y",
      "sudo PATH=. git status",
      "command export PATH=.",
      "for PATH in .; do git x; done",
      "select PATH in .; do git x; done",
      "sh -c 'export PATH=.; git x'",
      "ls | sh",
      "bash x.sh",
      "?m x",
      "echo 'x",
      "x".repeat(9_000),
      "(".repeat(60),
    ];
    for (const line of hiding) expect((await judge(line)).verdict, line.slice(0, 50)).toBe("ask");
    for (const line of [
      "NODE_ENV=test DEBUG=* npm test",
      "GIT_PAGER=cat git log",
      "PAGER= git diff",
      "GIT_EDITOR=true git commit --amend",
      "GIT_SEQUENCE_EDITOR=: git rebase -i main",
      "GIT_AUTHOR_NAME=x GIT_COMMITTER_DATE='2020-01-01 00:00' git commit -m x",
      "GIT_TERMINAL_PROMPT=0 git fetch",
      "GIT_CONFIG_GLOBAL=/dev/null git status",
      "NODE_OPTIONS=--max-old-space-size=4096 npm run build",
      "export FOO=$BAR CI=1",
      "env A=1 make",
      'read -p "$question" answer',
      "while read -r line; do echo $line; done",
      'printf "$format" PATH',
      "for f in a b; do make $f; done",
      "echo PATH=x",
      "git config user.name x",
      "git config --get core.pager",
      "git config core.pager",
      "git clone -c user.name=x a",
      "make all",
      "ls | xargs -n1 echo",
      "xargs -0 -r wc -l",
      "find . -print0 | xargs -0rn 1 -P4 grep -l TODO",
      "xargs -a list --max-args=2 git status",
      "ls | xargs",
    ])
      expect((await judge(line)).verdict, line).toBe("allow");
    for (const line of [
      "sed -n '/e/,/b/{p;q}' x",
      'sed -i "s/VERSION/$V/g" x',
      "sed -i.e -e 's/one/the/; s,a,e,' -e '/^e$/d' x",
      "sed -E 's#(a|b)/e#\\1;e#g;y/e/f/;s/[[:alpha:]/e]/x/' x",
      "sed '/x/a some e\n1i\\\ne text' x",
      "sed ':e;N;$!be;s/\\n/ /g' x",
      "awk -F'|' '/e|f/ {print $2 > \"x|y@z\"} # a|b' x",
      "awk '{ if ($1 || $2) print $1 / $2 / 3 }' x",
      "git commit -m 'Explain `git push`'",
      "[[ -f x ]] && git commit -m 'Explain $(git push)'",
      "printf '%s' 'use `git push`'",
      'x=$((x + 1)); echo "$(date) ${x[0]} ${x:0:5}"',
      ': "${FOO:=bar}"',
    ])
      expect((await judge(line)).verdict, line).toBe("allow");
    for (const line of [
      "uncommon -- $X",
      "uncommon exec there sh x.sh",
      "cargo run -- git push",
      "npm run push -- rm",
      "gh pr create --title 'git push works' --body 'rm -rf x'",
      "python3 -c 'print(\"rm -rf x\")'",
      "tar czf a.tgz curl",
      "gcc -c rm",
      "tmux ls",
      "docker-compose exec web ls",
    ])
      expect((await judge(line)).verdict, line).toBe("allow");
    for (const line of ["bash <<'EOF'\nmake\nEOF", "sh --version", "at -l", "find . -exec wc -l {} +", "fd -x wc -l"])
      expect((await judge(line)).verdict, line).toBe("allow");
    for (const line of ["make all", "for f in a b; do echo $f; done", "[[ -f x ]] && make", "echo $((1 + 1)) $HOME"])
      expect((await judge(line)).verdict, line).toBe("allow");
    const free = commandJudge(await projectFolder(), { mode: "auto" });
    // A path out of the workspace is asked about in every mode.
    for (const line of hiding.filter((each) => !/ \/usr\/bin\//.test(each)))
      expect((await free(line)).verdict, line.slice(0, 50)).toBe("allow");
  });

  it("asks by an ask rule wherever the command stands, and says where", async () => {
    const judge = commandJudge(await projectFolder(), { mode: "auto", ask: ["shell(command:npm publish *)"] });
    const asked = await judge("make && sudo npm publish --tag next; ls");
    expect(asked).toMatchObject({ verdict: "ask", decidedBy: "ask shell(command:npm publish *)" });
    expect(asked.parts).toEqual([
      { parameter: "command", start: 8, end: 35, verdict: "ask", reason: "shell(command:npm publish *) asks for it" },
    ]);
  });
});
