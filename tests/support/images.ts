/** An image of one dot. */
export const DOT = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
/** The same with so many bytes after it, which no reader of images minds. */
export const png = (bytes: number, seed = 0): string => Buffer.concat([DOT, Buffer.alloc(bytes, seed)]).toString("base64");
