/** Lines that are as long and as deep as is read, and beyond. */
export const HEAVY: readonly string[] = [
  "$(",
  "`",
  "(",
  "{ ",
  "if ",
  "! ",
  "<<a ",
  '"$(',
  "a|",
  "a;",
  "sh -c ",
  "sudo ",
  "xargs -n ",
  "((",
  "[[ ",
  "'",
  '"',
  "\\",
  "*",
  "a=b ",
  "-x ",
  "{a,",
  "echo `",
  "a -- ",
  "a run ",
  "npx -a ",
  "git config a.b ",
  "x='$(' ",
  "$(()) ",
  ": $((x)) '`' ",
  "npm exec ",
  "git -u -x ",
  "git bisect run ",
]
  .flatMap((unit) => [
    unit.repeat(Math.floor(8_000 / unit.length)),
    unit.repeat(Math.floor(50 / unit.length)),
    unit.repeat(30_000),
  ])
  .concat(
    ["[a]", "[[:a:]", "/[", "/a[/]", "\\.", "s/a/b/;", "\\a", "1,", "{", '"', "|", "@a;"].flatMap((unit) =>
      ["sed 's/", "sed '/", "sed '", "awk '/", "awk '"].map(
        (start) => `${start}${unit.repeat(Math.floor(7_900 / unit.length))}' x`,
      ),
    ),
  );
