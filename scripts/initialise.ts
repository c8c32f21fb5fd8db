import { initialisedFolder, makeInitialised } from "../src/db/initialised.ts";

/** Run at install: makes the folder that the first start of an embedded database copies, if it is not there. */
await makeInitialised(await initialisedFolder());
