declare module "pg/lib/utils.js" {
  /** The value as the driver sends it: its text, or its bytes. */
  export function prepareValue(value: unknown): string | Buffer | null;
}
