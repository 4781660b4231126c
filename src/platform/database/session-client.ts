import pg from 'pg';

/** Settings of a session by name, with values as PostgreSQL shows them. */
export type Session = Readonly<Record<string, string>>;

type Noting = (error: unknown) => void;
/** What the types of pg leave out: whatever the server says on a connection passes here, whoever waits for it. */
interface Inside {
  readonly connection: { on(event: 'errorMessage', heard: Noting): void };
  processID: number;
}

/** A connection whose session has been set up. */
export interface SessionClient extends pg.Client {
  /** The process of the database that works for it. */
  readonly processID: number;
  /** Whether somebody stands in between who gives connections out: the database's own process is not the one that was named. */
  readonly isPooled: boolean;
}

/**
 * A class of connections with these settings. They are set by a statement, since a pooler refuses or drops what comes with the start of a
 * connection, and read back: without its limits a session could hold locks for ever.
 *
 * @param note is told what the database refuses, and that a connection could not be made
 */
export function sessionClient(session: Session, note: Noting = () => undefined): new (config: pg.ClientConfig) => SessionClient {
  const setUp = setUpOf(session);
  return class extends pg.Client implements SessionClient {
    declare processID: number;
    isPooled = false;

    constructor(config: pg.ClientConfig) {
      super(config);
      (this as unknown as Inside).connection.on('errorMessage', note);
      // Pools listen once they are called back: a connection that the database ends while its session is set up would end the server.
      this.on('error', note);
    }

    override connect(): Promise<this>;
    override connect(callback: (error: Error) => void): void;
    override connect(callback?: (error: Error) => void): Promise<this> | void {
      const connected = this.connectAndSetUp();
      if (callback === undefined) return connected;
      connected.then(() => callback(undefined as unknown as Error), callback);
    }

    private async connectAndSetUp(): Promise<this> {
      try {
        await super.connect();
        await this.setUpSession();
        return this;
      } catch (error) {
        note(error);
        // Whoever gets an error does not end what it never had.
        void this.end().catch(() => undefined);
        throw error;
      }
    }

    private async setUpSession(): Promise<void> {
      const answers = (await this.query(setUp)) as unknown as pg.QueryResult<Record<string, string | number>>[];
      const { pid, ...inForce } = answers.at(-1)!.rows[0]!;
      const other = Object.keys(session).find((name) => isLimit(name) && inForce[name] !== session[name]);
      if (other !== undefined) throw new Error(`the session's ${other} is ${inForce[other]}, and not ${session[other]}`);
      this.isPooled = this.processID !== pid;
      this.processID = pid as number;
    }
  };
}

const isLimit = (name: string): boolean => name.endsWith('_timeout');

/** Sets all and reads back, in one round trip. */
function setUpOf(session: Session): string {
  const names = Object.keys(session);
  const set = names.map((name) => `set_config('${name}', '${session[name]}', false)`);
  const read = names.map((name) => `current_setting('${name}') as ${name}`);
  return `select ${set.join(', ')}; select pg_backend_pid() as pid, ${read.join(', ')}`;
}
