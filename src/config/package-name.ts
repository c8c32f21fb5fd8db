import { registerHooks } from "node:module";

const PACKAGE = new URL("../triplane.ts", import.meta.url).href;

/**
 * Resolves `import … from "triplane"` to this server from any file: a configuration may lie outside of the checkout,
 * without the package in node_modules. Uses Node's synchronous module hooks (node:module, registerHooks).
 */
export function resolvePackageName(): void {
  registerHooks({
    resolve: (specifier, context, next) => next(specifier === "triplane" ? PACKAGE : specifier, context),
  });
}
