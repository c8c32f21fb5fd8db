/** Ends the process with its `exitCode` when all that it said is written, whatever else would keep the process alive. */
export async function exit(): Promise<never> {
  await Promise.all([written(process.stdout), written(process.stderr)]);
  return process.exit();
}

/** Resolves when all of a stream is written, or nobody reads the stream. */
function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.on("error", () => resolve());
    stream.write("", () => resolve());
  });
}
