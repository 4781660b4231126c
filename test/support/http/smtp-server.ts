import { SMTPServer } from 'smtp-server';

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** As it came over the wire. */
  readonly source: string;
  /** Its text, with soft line breaks joined. */
  readonly text: string;
  /** Under which user it was sent, where one signed in. */
  readonly user: string | undefined;
  header(name: string): string | undefined;
}

export interface TestSmtp {
  readonly port: number;
  readonly mails: readonly ReceivedMail[];
  /** How many recipients were refused. */
  readonly refused: number;
  close(): Promise<void>;
}

export interface SmtpTerms {
  /** Where it listens; any free port unless it is said. */
  readonly port?: number;
  readonly login?: { readonly user: string; readonly pass: string };
  /** Recipients whom it does not take now (450). */
  readonly defers?: RegExp;
  /** Recipients whom it does not know, for good. */
  readonly knowsNot?: string;
  /** How long it takes before it says that it has a mail, in milliseconds. */
  readonly slowMs?: number;
  /** When it cuts the connection: before it asks for the text of a mail, or once it has that, without an answer. */
  readonly cuts?: 'before the text' | 'after the text';
}

/** A real mail server without TLS, which keeps what it is sent. */
export async function startSmtp({ port = 0, login, defers, knowsNot, slowMs = 0, cuts }: SmtpTerms = {}): Promise<TestSmtp> {
  const mails: ReceivedMail[] = [];
  let refused = 0;
  const server = new SMTPServer({
    disabledCommands: login ? ['STARTTLS'] : ['STARTTLS', 'AUTH'],
    allowInsecureAuth: true,
    authOptional: login === undefined,
    onAuth: (auth, _, done) => {
      const isRight = auth.username === login?.user && auth.password === login?.pass;
      if (isRight) done(null, { user: auth.username });
      else done(new Error('535 wrong user or password'));
    },
    onRcptTo: ({ address }, _, done) => {
      if (defers?.test(address)) return done(Object.assign(new Error('greylisted'), { responseCode: 450 }));
      if (cuts === 'before the text') return cutAll(server);
      if (address !== knowsNot) return done();
      refused++;
      done(Object.assign(new Error('no such user'), { responseCode: 550 }));
    },
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        const from = mailFrom === false ? '' : (mailFrom?.address ?? '');
        mails.push(received(Buffer.concat(chunks).toString('utf8'), from, rcptTo.map(({ address }) => address), session.user));
        if (cuts === 'after the text') cutAll(server);
        else setTimeout(() => done(), slowMs).unref();
      });
    },
  });
  server.on('error', () => undefined);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve());
  });
  const address = server.server.address() as { port: number };
  return {
    port: address.port,
    mails,
    get refused() {
      return refused;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function cutAll(server: SMTPServer): void {
  const { connections } = server as unknown as { connections: Set<{ _socket: { destroy(): void } }> };
  for (const { _socket } of connections) _socket.destroy();
}

function received(source: string, from: string, to: string[], user: unknown): ReceivedMail {
  const at = source.indexOf('\r\n\r\n');
  const head = source.slice(0, at).replace(/\r\n[ \t]+/g, ' ');
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1]?.trim();
  const body = source.slice(at + 4);
  const text = /quoted-printable/i.test(header('Content-Transfer-Encoding') ?? '')
    ? body.replace(/=\r\n/g, '').replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    : body;
  return { from, to, source, text, header, user: typeof user === 'string' ? user : undefined };
}
