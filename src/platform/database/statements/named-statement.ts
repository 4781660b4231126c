/** A statement that PostgreSQL parses and plans once a connection. The name must be as unique as the text. */
export interface NamedStatement {
  readonly name: string;
  readonly text: string;
}
