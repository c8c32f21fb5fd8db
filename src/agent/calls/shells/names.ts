export type ShellName = { readonly id: string; readonly command: string };

const CHARACTERS = 200;

export const COMMAND_BEGINNING = `CASE WHEN length(s.command) > ${CHARACTERS} THEN left(s.command, ${CHARACTERS}) || '…' ELSE s.command END`;

export function commandBeginning(command: string): string {
  const characters = Array.from(command);
  return characters.length > CHARACTERS ? `${characters.slice(0, CHARACTERS).join("")}…` : command;
}

export function shellNames(shells: readonly ShellName[]): string {
  const [first, ...others] = shells.map(({ id, command }) => `${id} (${command})`);
  if (others.length === 0) return `the background shell ${first}`;
  return `one of the background shells ${[first, ...others.slice(0, -1)].join(", ")} and ${others.at(-1)}`;
}
