import { asRoot } from '../../support/http/actors.js';
import { sendPipelined, type Statuses } from '../../support/http/pipelined.js';
import type { Proof, ProofRun } from '../../support/proofs/proof.js';
import { generator } from '../../support/proofs/races.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const CONNECTIONS = 4;
const MINUTE = 60_000;
/** Of one server in one minute: 200 firsts, 200 counts of them (of this minute and of the one before), 200 networks, and the rest. */
const ENTRIES_A_MINUTE = 801;
const HOSTS_OF_NETWORK = 250;

type Sent = Map<string, number>;

/** Where bad keys come from: one address, one network, the whole internet, old and new. */
const PLACES: readonly (readonly [name: string, address: (random: (below: number) => number) => string])[] = [
  ['from one address', () => '203.0.113.9'],
  ['from one network', (random) => `198.51.100.${1 + random(HOSTS_OF_NETWORK)}`],
  ['from everywhere', (random) => `${1 + random(9)}.${random(256)}.${random(256)}.${1 + random(254)}`],
  ['from everywhere by IPv6', (random) => `2001:db8:${(1 + random(65_535)).toString(16)}:1::${(1 + random(65_535)).toString(16)}`],
];

interface StoredFailure {
  readonly count: number;
  readonly address: string | null;
  readonly network: string | null;
}

/** Two servers are asked with keys that are nobody's, as fast as they answer. Then both end, and what they wrote is counted. */
export const proof: Proof = {
  name: 'auth-flood',
  title: 'However many bad keys come from wherever, entries stay few, and together they count each of them once.',
  longCount: 1_000_000,
  shortCount: 5_000,
  needs: 'database',
  run: async (proofRun) => {
    const { count } = proofRun;
    const env = { TRUSTED_PROXIES: '127.0.0.1' };
    const one = await startServer({ env });
    try {
      const other = await startServer({ env, replicaOf: one });
      try {
        const sent: Sent = new Map();
        const coverage: Record<string, number> = Object.fromEntries(PLACES.map(([name]) => [name, 0]));
        const began = Date.now();
        const statuses = await flood([one, other], proofRun, sent, coverage);
        await Promise.all([one.restart(), other.restart()]);
        const minutes = Math.ceil((Date.now() - began) / MINUTE) + 1;
        const found = await failuresIn(one);
        Object.assign(coverage, {
          'entries of one address': found.filter(({ address }) => address !== null).length,
          'entries of a network': found.filter(({ network }) => network !== null).length,
          'failures in counts': found.reduce((sum, entry) => sum + (entry.count > 1 ? entry.count : 0), 0),
        });
        const counterexample = wrongIn(found, sent, statuses, count, 2 * minutes * ENTRIES_A_MINUTE) ?? (await brokenLog(one));
        return { checked: count, counterexample, coverage };
      } finally {
        await other.stop();
      }
    } finally {
      await one.stop();
    }
  },
};

async function flood(
  servers: readonly TestServer[], { count, seed, progress }: ProofRun, sent: Sent, coverage: Record<string, number>,
): Promise<Statuses> {
  const random = generator(seed);
  const below = (most: number) => Math.floor(random() * most);
  let made = 0;
  const requests = function* (): Generator<string> {
    while (made < count) {
      const [name, addressOf] = PLACES[made % PLACES.length]!;
      const address = addressOf(below);
      sent.set(address, (sent.get(address) ?? 0) + 1);
      coverage[name]! += 1;
      if (++made % 1_000 === 0) progress(made);
      const key = `svc_root_${made.toString(16).padStart(64, '0')}`;
      yield `GET /api/v1/agents HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\nX-Forwarded-For: ${address}\r\n\r\n`;
    }
  };
  const runs = servers.flatMap((server) => Array.from({ length: CONNECTIONS }, () => sendPipelined(server.url, requests())));
  const statuses: Statuses = new Map();
  for (const part of await Promise.all(runs)) for (const [status, times] of part) statuses.set(status, (statuses.get(status) ?? 0) + times);
  return statuses;
}

/** Failures of our addresses; starting a server makes none. */
async function failuresIn(server: TestServer): Promise<StoredFailure[]> {
  const rows = await server.sql<{ payload: string; disclosures: string }>(
    `select payload, disclosures from audit_entries where event = 'auth.failed' order by id`,
  );
  return rows.map(({ payload, disclosures }) => {
    const { metadata } = JSON.parse(payload) as { metadata: { count: number } };
    const values = JSON.parse(disclosures) as { pointer: string; value: string }[];
    const disclosed = (pointer: string) => {
      const value = values.find((one) => one.pointer === pointer)?.value;
      return value === undefined ? null : (JSON.parse(value) as string);
    };
    return { count: metadata.count, address: disclosed('/origin/address'), network: disclosed('/metadata/network') };
  });
}

function wrongIn(found: readonly StoredFailure[], sent: Sent, statuses: Statuses, count: number, most: number): string | undefined {
  const refused = statuses.get(401) ?? 0;
  const turnedAway = statuses.get(503) ?? 0;
  if (refused + turnedAway !== count) return `answers: ${JSON.stringify([...statuses])} for ${count} bad keys`;
  if (found.length > most) return `${found.length} entries, more than ${most}`;
  const total = found.reduce((sum, entry) => sum + entry.count, 0);
  // Who was told 503 may or may not have been counted.
  if (total < refused || total > count) return `${total} failures are told of ${refused} refusals`;
  const ofAddress: Sent = new Map();
  for (const { address, network, count: recorded } of found) {
    if ((address === null) === (network === null)) return `an entry of ${recorded} says ${String(address)} and ${String(network)}`;
    if (address !== null) ofAddress.set(address, (ofAddress.get(address) ?? 0) + recorded);
  }
  const wrong = [...ofAddress].find(([address, recorded]) => recorded > (sent.get(address) ?? 0));
  return wrong && `${wrong[1]} failures are told of ${wrong[0]}, which made ${sent.get(wrong[0]) ?? 0}`;
}

async function brokenLog(server: TestServer): Promise<string | undefined> {
  const verdict = (await asRoot(server).get('/api/v1/audit/verify')).expect(200);
  return verdict.at('valid') === true ? undefined : `the log does not verify: ${JSON.stringify(verdict.at('breaks'))}`;
}
