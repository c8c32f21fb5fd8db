import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { generatedFiles } from "../codegen.ts";

/** `npm run codegen`: writes the generated files. */
for (const { path, content } of await generatedFiles()) {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  console.log(`wrote ${path}`);
}
