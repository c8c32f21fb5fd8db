/** Ends the process with its `exitCode` when all output is written, whatever else keeps the process alive. */
export async function exit(): Promise<never> {
  await Promise.all([written(process.stdout), written(process.stderr)]);
  return process.exit();
}

function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.on("error", () => resolve());
    stream.write("", () => resolve());
  });
}
