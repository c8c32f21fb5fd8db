/** The part of Babel that the build uses. */
declare module "@babel/core" {
  type Options = {
    readonly filename: string;
    readonly babelrc: boolean;
    readonly configFile: boolean;
    readonly sourceMaps: boolean;
    readonly parserOpts: { readonly plugins: readonly string[] };
    readonly plugins: readonly unknown[];
  };
  export function transformAsync(code: string, options: Options): Promise<{ code?: string; map?: string } | null>;
}
