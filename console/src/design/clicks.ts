/** The handler of a click that acts once: the further clicks of a double click may hit whatever has come under the pointer. */
export function firstClick(act: () => void): (event: { readonly detail: number }) => void {
  return ({ detail }) => (detail > 1 ? undefined : act());
}
