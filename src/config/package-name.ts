import { registerHooks } from "node:module";

const PACKAGE = new URL("../triplane.ts", import.meta.url).href;

/**
 * Lets `import … from "triplane"` lead to this server from whatever file it stands in: a configuration may lie outside of
 * the checkout, where no node_modules has the package. By Node's synchronous module hooks (node:module, registerHooks).
 */
export function resolvePackageName(): void {
  registerHooks({
    resolve: (specifier, context, next) => next(specifier === "triplane" ? PACKAGE : specifier, context),
  });
}
