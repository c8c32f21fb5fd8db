export type MigrationConnection = {
  script(sql: string): Promise<void>;
  query<Row>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
};
