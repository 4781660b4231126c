import { createServer } from 'node:http';
import { sign, generateKeyPairSync } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { openCheckpoint } from '../../../src/domain/audit/notes/checkpoint.js';
import { readVerifierKey, type VerifierKey } from '../../../src/domain/audit/notes/note.js';
import { checkConsistency } from '../../../src/domain/audit/tree/tree-proofs.js';
import { readHash } from '../../../src/domain/audit/tree/rfc6962.js';

/** What a witness has cosigned last, by origin. */
interface Seen {
  readonly size: number;
  readonly root: string;
}

export interface Witness {
  readonly url: string;
  /** Every checkpoint that it has cosigned, oldest first. */
  readonly cosigned: readonly (Seen & { readonly origin: string })[];
  /** What it was asked, by status. */
  readonly answers: readonly number[];
  /** Whom it knows; until then it knows nobody, and answers 404. */
  know(verifierKey: string): void;
  /** Takes no connections until it is back. */
  away(): Promise<void>;
  back(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * A witness of https://c2sp.org/tlog-witness over HTTP that believes nobody: it checks the signature, and the consistency proof with the
 * checkpoint that it has cosigned before.
 */
export async function startWitness(...verifierKeys: readonly string[]): Promise<Witness> {
  const known: VerifierKey[] = [];
  const seen = new Map<string, Seen>();
  const cosigned: (Seen & { origin: string })[] = [];
  const answers: number[] = [];
  const { privateKey } = generateKeyPairSync('ed25519');
  const know = (text: string): void => void known.push(readVerifierKey(text)!);
  verifierKeys.forEach(know);

  const answer = (body: string): { status: number; text: string } => {
    const [head, note] = [body.slice(0, body.indexOf('\n\n')), body.slice(body.indexOf('\n\n') + 2)];
    const [first, ...lines] = head.split('\n');
    const old = /^old (0|[1-9]\d*)$/.exec(first ?? '')?.[1];
    const proof = lines.map((line) => readHash(line));
    if (old === undefined || proof.some((hash) => hash === undefined)) return { status: 400, text: 'malformed' };
    const origin = note.slice(0, note.indexOf('\n'));
    const mine = known.filter(({ name }) => origin.startsWith(`${name}/`));
    if (mine.length === 0) return { status: 404, text: 'unknown origin' };
    const opened = openCheckpoint(note, mine, origin);
    if ('wrong' in opened) return { status: 403, text: opened.wrong };
    const { size, root } = opened.checkpoint;
    if (Number(old) > size) return { status: 400, text: 'old is larger' };
    const last = seen.get(origin);
    if (Number(old) !== (last?.size ?? 0)) return { status: 409, text: `${last?.size ?? 0}\n` };
    if (last?.size === size && last.root !== root) return { status: 409, text: `${last.size}\n` };
    const isConsistent = last === undefined
      ? proof.length === 0
      : checkConsistency(last.size, size, readHash(last.root)!, readHash(root)!, proof.map((hash) => hash!));
    if (!isConsistent) return { status: 422, text: 'not consistent' };
    seen.set(origin, { size, root });
    cosigned.push({ origin, size, root });
    const signature = sign(null, Buffer.from(note, 'utf8'), privateKey);
    return { status: 200, text: `— witness.example ${Buffer.concat([Buffer.alloc(4, 7), signature]).toString('base64')}\n` };
  };

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const isAsked = request.method === 'POST' && request.url === '/w/add-checkpoint';
      const { status, text } = isAsked ? answer(Buffer.concat(chunks).toString('utf8')) : { status: 404, text: 'no such thing' };
      answers.push(status);
      response.writeHead(status, { 'content-type': status === 409 ? 'text/x.tlog.size' : 'text/plain' }).end(text);
    });
  });
  const listen = (port: number) => new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  const close = () => new Promise<void>((done) => {
    server.close(() => done());
    server.closeAllConnections();
  });
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/w`,
    cosigned,
    answers,
    know,
    away: close,
    back: () => listen(port),
    stop: close,
  };
}
