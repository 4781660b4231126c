import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/**
 * A line between a server and its database that a test can cut, at a chosen place in the conversation. Places are found
 * by a text in what the server sends, such as the name of a prepared statement.
 */
export interface DatabaseProxy {
  /** The database's address, through this line. */
  readonly url: string;
  /** Cuts every connection and takes no new one, until `restore`. */
  cut(): Promise<void>;
  restore(): Promise<void>;
  /**
   * The database does what the next such statement says; its acknowledgement is lost with the connection.
   *
   * @param after only on a connection that has sent this before, to tell one COMMIT from another
   */
  loseAcknowledgementOf(text: string, after?: string): Promise<void>;
  /**
   * The next such statement stops on its way. Resolves once it has come; `release` lets it go on.
   *
   * @param after as above
   */
  hold(text: string, after?: string): { readonly held: Promise<void>; release(): void };
  close(): Promise<void>;
}

interface Trap {
  readonly text: string;
  readonly after?: string;
  readonly kind: 'lose acknowledgement' | 'hold';
  sprung(release: () => void): void;
}

// ReadyForQuery, "idle": the statement and its transaction have ended (PostgreSQL, "Message Formats").
const READY_AND_IDLE = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

export async function proxyTo(databaseUrl: string): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const traps: Trap[] = [];

  const serve = (near: Socket): void => {
    const far = connect(Number(target.port), target.hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.once('close', () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    let losing: Trap | undefined;
    let waiting: Buffer[] | undefined;
    const armed = new Set<Trap>();
    const said = textsOnceGiven();
    near.on('data', (chunk: Buffer) => {
      if (waiting) return void waiting.push(chunk);
      const texts = said(chunk);
      const says = (text: string) => chunk.includes(text) || texts.some((one) => one.includes(text));
      for (const trap of traps) if (trap.after === undefined || says(trap.after)) armed.add(trap);
      const at = traps.findIndex((trap) => armed.has(trap) && says(trap.text));
      const trap = at < 0 ? undefined : traps.splice(at, 1)[0]!;
      if (trap?.kind === 'hold') {
        waiting = [chunk];
        return trap.sprung(() => {
          for (const kept of waiting ?? []) far.write(kept);
          waiting = undefined;
        });
      }
      losing ??= trap;
      far.write(chunk);
    });
    far.on('data', (chunk: Buffer) => {
      if (!losing) return void near.write(chunk);
      if (!chunk.subarray(-READY_AND_IDLE.length).equals(READY_AND_IDLE)) return;
      near.resetAndDestroy();
      losing.sprung(() => undefined);
    });
  };

  let listener = await listening(serve, 0);
  const { port } = listener.address() as AddressInfo;
  const cut = async () => {
    const closed = new Promise((resolve) => listener.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  const through = new URL(databaseUrl);
  through.host = `127.0.0.1:${port}`;
  // By TCP, whatever else the database has.
  through.search = '';
  return {
    url: through.href,
    cut,
    restore: async () => {
      listener = await listening(serve, port);
    },
    loseAcknowledgementOf: (text, after) =>
      new Promise((resolve) => void traps.push({ text, after, kind: 'lose acknowledgement', sprung: () => resolve() })),
    hold: (text, after) => {
      let release: () => void = () => undefined;
      const held = new Promise<void>((resolve) => {
        const sprung = (go: () => void) => {
          release = go;
          resolve();
        };
        traps.push({ text, after, kind: 'hold', sprung });
      });
      return { held, release: () => release() };
    },
    close: async () => {
      if (listener.listening) await cut();
    },
  };
}

/** A statement that is prepared by its text comes with it once; later its name stands for it. @returns what such names in a chunk say */
function textsOnceGiven(): (chunk: Buffer) => string[] {
  const texts = new Map<string, string>();
  return (chunk) => {
    const plain = chunk.toString('latin1');
    for (const [, name, text] of plain.matchAll(/(by-text-[0-9a-f]{24})\0([^\0]{10,})\0/g)) texts.set(name!, text!);
    return (plain.match(/by-text-[0-9a-f]{24}/g) ?? []).flatMap((name) => texts.get(name) ?? []);
  };
}

async function listening(serve: (socket: Socket) => void, port: number): Promise<Server> {
  const server = createServer(serve);
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', () => resolve()));
  return server;
}
