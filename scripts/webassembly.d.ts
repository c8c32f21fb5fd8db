/** The little of WebAssembly that scripts/schema-engine.ts needs; Node has it, its types do not. */
declare namespace WebAssembly {
  type ModuleImports = Record<string, unknown>;
  function instantiate(
    bytes: Uint8Array,
    imports: Record<string, ModuleImports>,
  ): Promise<{ instance: { exports: Record<string, unknown> } }>;
}
