import pg from 'pg';

type Noting = (error: unknown) => void;
/** What the types of pg leave out: whatever the server says on a connection passes here, whoever waits for it. */
type OnErrors = { on(event: 'errorMessage', heard: Noting): void };

/** A class of connections that tell `note` what the database refuses, and that they could not be made. */
export function observedClient(note: Noting): typeof pg.Client {
  return class extends pg.Client {
    constructor(config?: string | pg.ClientConfig) {
      super(config);
      (this as unknown as { connection: OnErrors }).connection.on('errorMessage', note);
    }

    override connect(): Promise<this>;
    override connect(callback: (error: Error) => void): void;
    override connect(callback?: (error: Error) => void): Promise<this> | void {
      const connected = super.connect().then(
        () => this,
        (error: unknown) => {
          note(error);
          throw error;
        },
      );
      if (callback === undefined) return connected;
      connected.then(() => callback(undefined as unknown as Error), callback);
    }
  };
}
