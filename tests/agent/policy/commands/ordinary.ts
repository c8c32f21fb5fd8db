/** Command lines that only read: an engineer does not want to be asked about any of them. */
const READING = String.raw`
ls
ls -la
ls -lah src
ls -R src
ls src tests
ls -1 packages
ls -t | head -5
ls -d */
pwd
cat package.json
cat README.md docs/readme.md
cat -n src/a.ts
cat src/a.ts | head -20
head -50 src/a.ts
head -n 100 README.md
tail -n 20 README.md
tail -20 docs/readme.md
wc -l src/a.ts
wc -l src/a.ts src/b.ts
cat src/a.ts | wc -l
sed -n 10p src/a.ts
sed -n '10,40p' src/a.ts
sed -n '1,80p' src/a.ts | head -30
sed -n '/function/,/}/p' src/a.ts
sed 's/foo/bar/g' src/a.ts
sed 's/[0-9]*/N/' src/a.ts
sed 's/\[x\]/y/' src/a.ts
sed -n '5p;10p' src/a.ts
sed -n '$p' README.md
nl -ba src/a.ts
grep -n TODO src/a.ts
grep -rn TODO src
grep -rn "export function" src
grep -rn --include='*.ts' "readFile" src
grep -ril error src tests
grep -c test tests/a.test.ts
grep -E "foo|bar" src/a.ts
grep -A 3 -B 2 import src/a.ts
grep -rn "TODO" src | head -20
grep -rn "TODO" . --exclude-dir=node_modules
grep -v '^#' README.md
grep -w name package.json
grep -oP '"version": "\K[^"]+' package.json
rg TODO
rg -n TODO src
rg -l "import" src
rg -n "export (const|function)" src --type ts
rg -tts foo
rg --files
rg --files src | head
rg -i error -g '*.ts'
rg -C 3 "function main" src
rg -c TODO
rg -uu TODO
find . -name '*.ts'
find src -type f
find src -name '*.ts' -not -path '*/deep/*'
find . -maxdepth 2 -type d
find . -name node_modules -prune -o -name '*.ts' -print
find src -newer package.json
find . -type f -size +100k
find tests -name '*.test.ts' | wc -l
find . -iname '*readme*'
find src \( -name '*.ts' -o -name '*.tsx' \)
tree -L 2
tree src
du -sh src
du -h --max-depth=1
df -h
stat package.json
file package.json
diff src/a.ts src/b.ts
diff -u src/a.ts src/b.ts
cmp src/a.ts src/b.ts
sort README.md
sort README.md | uniq -c | sort -rn
sort -u README.md
cut -d: -f1 README.md
cut -c1-80 README.md
tr a-z A-Z < README.md
cat README.md | tr -d '\r'
awk '{print $1}' README.md
awk -F: '{print $2}' README.md
awk 'NR==10' src/a.ts
awk '/TODO/ {print FILENAME": "$0}' src/a.ts
awk 'length($0) > 100' src/a.ts
jq . package.json
jq .scripts package.json
jq -r '.dependencies | keys[]' package.json
cat package.json | jq '.scripts'
basename src/a.ts
dirname src/a.ts
realpath src
readlink -f src
md5sum package.json
sha256sum package.json README.md
base64 README.md
xxd README.md
od -c README.md | head
strings README.md
echo hello
echo "done"
echo ---
echo "exit: $?"
ls src; echo $?
grep -q TODO src/a.ts; echo "found: ${"$"}{?}"
git status; echo exit=$?
ls; printf 'exit %d\n' $?
ls; [ $? -eq 0 ] && echo yes
ls; test "$?" -ne 0
printf '%s\n' hello
printf '%-10s|%5.2f 100%%\n' total 1.5
date
date +%F
date -u +%Y-%m-%dT%H:%M:%SZ
whoami
id
uname -a
hostname
uptime
nproc
free -h
env
printenv PATH
which node
which -a python3
type ls
command -v node
node --version
node -v
npm --version
npm -v
python3 --version
java -version
gcc --version
tsc --version
docker --version
git --version
true
test -f package.json
[ -f package.json ]
[ -d src ] && ls src
test -d node_modules && echo yes || echo no
[[ -f package.json ]] && echo yes
git status
git status -s
git status --short --branch
git status --porcelain
git log
git log --oneline
git log --oneline -10
git log -5
git log -n 3 --stat
git log --oneline --graph --all
git log --since=yesterday
git log --author=anna --oneline
git log -p src/a.ts
git log --follow src/a.ts
git log --format='%h %s' -5
git log main..HEAD
git log -1 --pretty=format:%H
git log -S readFile --oneline
git diff
git diff --stat
git diff --cached
git diff --staged --name-only
git diff HEAD~1
git diff main...HEAD
git diff main -- src/a.ts
git diff -w src/a.ts
git diff --name-status HEAD~3 HEAD
git diff --word-diff README.md
git --no-pager diff
git --no-pager log --oneline -20
git -C packages/web status
git show
git show HEAD
git show HEAD~2 --stat
git show HEAD:src/a.ts
git show --name-only HEAD
git blame src/a.ts
git blame -L 10,20 src/a.ts
git branch
git branch -a
git branch -vv
git branch --show-current
git branch --contains HEAD
git tag
git tag -l
git remote -v
git remote get-url origin
git rev-parse HEAD
git rev-parse --abbrev-ref HEAD
git rev-parse --show-toplevel
git ls-files
git ls-files src | head
git ls-files --others --exclude-standard
git ls-tree -r HEAD --name-only
git grep -n TODO
git grep TODO -- src
git stash list
git stash show -p
git describe --tags
git merge-base main HEAD
git shortlog -sn
git rev-list --count HEAD
git config --get user.name
git config --list
git worktree list
git reflog show
git cat-file -p HEAD
git check-ignore -v dist
git for-each-ref --sort=-committerdate refs/heads
git submodule status
npm ls
npm ls --depth=0
npm list --depth 0
npm root
cd src && ls
cd packages/web && git status
cd src && cat a.ts | head
cd src && grep -rn TODO .
ls src && cat src/a.ts
ls; pwd
git status && git diff --stat
cat package.json && ls -la
cat src/a.ts 2>/dev/null
ls missing 2>/dev/null || echo none
grep -rn TODO src 2>&1 | head
timeout 10 grep -rn TODO src
nice -n 10 find . -name '*.ts'
time ls
! grep -q TODO src/a.ts
ps -ef
ps aux | grep node
seq 1 10
sleep 1
column -t README.md
comm -12 README.md docs/readme.md
paste README.md docs/readme.md
rev README.md
tac README.md
fold -w 80 README.md
cat <<'EOF'
hello
EOF
for f in src/*.ts; do wc -l "$f"; done
wc -l src/*.ts
cat "$PWD/package.json"
head -5 src/{a,b}.ts
cat src/*.ts
cat src/{a,b}.ts | head -40
ls src/*.ts
ls *.md
wc -l src/*.ts tests/*.ts
head -20 docs/*.md
grep -n TODO src/*.ts
grep -rn "import .* from" src | head -30
grep -rln readFile src tests
grep -n "export" src/a.ts | head
grep -rnE "TODO|FIXME" src
grep -rn --include='*.ts' -l useState src
grep -c "" src/a.ts
rg -n "class \w+" src
rg -l TODO src tests
rg -nF "foo(" src
rg --files src
rg -n --type ts "interface" src
rg -n -A 5 "function main" src/a.ts
find . -type f -name '*.md'
find src -name '*.ts' | head -20
find . -name package.json -not -path '*/node_modules/*'
find src -type f | wc -l
find . -maxdepth 1 -type f
ls -la src docs
ls -1 src | wc -l
ls packages/*
tail -n +10 README.md
sed -n '20,40p' src/a.ts
sed -n 1,200p README.md
head -c 400 README.md
cat package.json | grep '"version"'
cat README.md | sort | uniq | wc -l
echo "== files =="; ls; echo "== git =="; git status -s
pwd && ls -la && git branch --show-current
git status --short && git log --oneline -5
git diff HEAD --stat
git diff --cached --name-only
git diff src/a.ts | head -50
git log --oneline --since='2 weeks ago' -- src
git log -p -1 -- src/a.ts
git show --stat HEAD
git show HEAD~1:README.md | head
git rev-parse --short HEAD
git ls-files '*.ts' | wc -l
git diff --name-only | xargs wc -l
find src -name '*.ts' -exec wc -l {} +
find src -type f | xargs grep -l TODO
jq '.devDependencies' package.json
python3 -c 'print(1 + 1)'
awk '{sum += $1} END {print sum}' README.md
`;

/** Command lines that change something, run something or reach out: an engineer wants to be asked about them, unless a rule says otherwise. */
const ASKING = String.raw`
npm install
npm ci
npm test
npm run build
npm run lint -- --fix
npx vitest run
npx tsc --noEmit
yarn
pnpm install
node script.js
node -e 'console.log(1)'
python3 script.py
python3 -m pytest
pytest -q
go version
go test ./...
go build ./...
cargo --version
cargo test
cargo build --release
make
make test
cmake --build build
git add .
git add -A
git commit -m "Fix the parser"
git commit --amend --no-edit
git push
git push origin main
git pull
git fetch
git fetch --dry-run
git checkout main
git checkout -b feature
git switch main
git merge main
git rebase main
git reset --hard
git restore src/a.ts
git stash
git stash pop
git branch feature
git branch -d feature
git tag v1.0.0
git clone https://example.org/x.git
git clean -fd
git config user.name anna
git remote add origin https://example.org/x.git
git cherry-pick abc
git revert HEAD
git init
git worktree add ../other
rm src/a.ts
rm -rf dist
mv src/a.ts src/b.ts
cp src/a.ts src/c.ts
mkdir -p dist
touch src/new.ts
ln -s src lib
chmod +x run.sh
echo hello > out.txt
echo hello >> README.md
cat > src/new.ts
cat src/a.ts > copy.ts
sed -i 's/a/b/' src/a.ts
tee out.txt
curl https://example.org
wget https://example.org/x
ssh server ls
docker build .
docker run -it node
docker compose up
kubectl apply -f x.yaml
terraform apply
pip install requests
apt-get install ripgrep
brew install jq
./run.sh
bash run.sh
source .venv/bin/activate
export NODE_ENV=test
kill 1234
killall node
sudo ls
prettier --write .
eslint --fix src
tsc
vim src/a.ts
less README.md
man ls
tail -f log.txt
`;

export type OrdinaryCommand = { readonly line: string; readonly expected: "allow" | "ask" };

function linesOf(text: string, expected: "allow" | "ask"): readonly OrdinaryCommand[] {
  // A here-document is the one line that has several.
  const joined = text.replace(/<<'EOF'\n([^\n]*)\nEOF/g, "<<'EOF'\u0000$1\u0000EOF");
  return joined.split("\n").flatMap((line) => (line === "" ? [] : [{ line: line.replaceAll("\u0000", "\n"), expected }]));
}

/** Ordinary command lines with the verdict that an engineer expects of `presets.readOnly`. */
export const ORDINARY: readonly OrdinaryCommand[] = [...linesOf(READING, "allow"), ...linesOf(ASKING, "ask")];
