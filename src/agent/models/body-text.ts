/** The beginning of a body, of so many characters. What comes behind them is not read, however long it is. */
export async function bodyText({ body }: Response, most: number, signal?: AbortSignal): Promise<string> {
  let text = "";
  if (body === null) return text;
  for await (const piece of body.pipeThrough(new TextDecoderStream(), signal === undefined ? {} : { signal })) {
    text += piece;
    if (text.length >= most) break;
  }
  return text.slice(0, most);
}
