import { setSourceMapsSupport } from "node:module";

// Stack traces of the bundle show the sources. Packages have maps too, which would cost memory and a tenth of the start.
setSourceMapsSupport(true, { nodeModules: false, generatedCode: false });
