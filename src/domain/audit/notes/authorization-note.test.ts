import { expect, it } from '@jest/globals';
import { checkpointText, openCheckpoint, originOf, readCheckpoint } from './checkpoint.js';
import { waivedCheckpointIn, waiveCheckpoint, signRecovery } from './waived-checkpoint.js';
import { publicHalf, readVerifierKey, signingKey, signNote, verifierKey, vouchesFor } from './note.js';
import type { JsonObject } from '../../json.js';
import { jcs } from '../entry/jcs.js';
import { listsCutPoint, authorizationOrigin, authorizationText, signedAgain, statementIn } from './authorization-note.js';
import { keptByCaller } from '../tree/verify-platform.js';

const NAME = 'countersign-test';
const seed = (byte: number) => Buffer.alloc(32, byte).toString('base64');
const [KEY, NEXT] = [signingKey(NAME, seed(1)), signingKey(NAME, seed(2))];
const CUT = { chain: 'agt_1', seq: 4, hash: 'a'.repeat(64), count: 4 };
const METADATA = { sweepId: 'swp_1', before: '2026-01-01T00:00:00.000Z', chains: [CUT, { ...CUT, chain: 'agt_2', seq: 9, count: 3 }] };
const TIME = '2026-11-24T00:00:00.000Z';
const payloadOf = (metadata: JsonObject, more: object = {}) =>
  jcs({ v: 1, id: 'audit_1', event: 'e', actorId: 'system', organizationId: 'org_a', timestamp: TIME, metadata, ...more });
const recorded = (metadata: JsonObject, more: object = {}) => statementIn({ payload: payloadOf(metadata, more) });
const TEXT = authorizationText('sweep', NAME, 'org_a', recorded(METADATA));

it('is of the organization, of how many entries are gone, and of all of the entry', () => {
  expect(readCheckpoint(TEXT)).toMatchObject({ origin: 'countersign-test/org_a/sweep', size: 7 });
  const others = [
    authorizationText('sweep', NAME, 'org_b', recorded(METADATA)),
    authorizationText('sweep', 'countersign-other', 'org_a', recorded(METADATA)),
    authorizationText('sweep', NAME, 'org_a', recorded({ ...METADATA, before: '2026-01-02T00:00:00.000Z' })),
    authorizationText('sweep', NAME, 'org_a', recorded({ ...METADATA, chains: [...METADATA.chains].reverse() })),
    ...[{ id: 'audit_2' }, { actorId: 'usr_ada' }, { timestamp: TIME.replace('24', '23') }, { origin: { via: 'rest' } }]
      .map((more) => authorizationText('sweep', NAME, 'org_a', recorded(METADATA, more))),
    authorizationText('sweep', NAME, 'org_a', statementIn({ agentId: 'agt_1', payload: payloadOf(METADATA) })),
  ];
  for (const text of others) expect(text).not.toBe(TEXT);
  expect(authorizationText('sweep', NAME, 'org_a', recorded({ chains: 'none' }))).toMatch(/\/sweep\n0\n/);
});

it('is of how many values are gone, of an erasure', () => {
  const erasure = { erasureId: 'ers_1', erased: [['a'.repeat(64), 'd'], ['b'.repeat(64), 'e']] };
  const text = authorizationText('erasure', NAME, 'org_a', recorded(erasure));
  expect(readCheckpoint(text)).toMatchObject({ origin: 'countersign-test/org_a/erasure', size: 2 });
  for (const other of [{ ...erasure, erasureId: 'ers_2' }, { ...erasure, erased: [...erasure.erased].reverse() }]) {
    expect(authorizationText('erasure', NAME, 'org_a', recorded(other))).not.toBe(text);
  }
  expect(authorizationText('erasure', NAME, 'org_a', recorded({ erased: 'none' }))).toMatch(/\/erasure\n0\n/);
  expect(authorizationText('sweep', NAME, 'org_a', recorded(erasure)).split('\n')[2]).toBe(text.split('\n')[2]);
});

it('counts when all of the wanted keys have signed it, and for no other text', () => {
  const [key, next] = [publicHalf(KEY), publicHalf(NEXT)];
  expect(key.text).toBe(verifierKey(NAME, seed(1)));
  expect(key.id).toBe(readVerifierKey(key.text)!.id);
  const note = signNote(TEXT, [KEY]);
  expect(vouchesFor(note, TEXT, [key])).toBe(true);
  expect(vouchesFor(note, TEXT, [next])).toBe(false);
  expect(vouchesFor(note, TEXT, [key, next])).toBe(false);
  expect(vouchesFor(signNote(TEXT, [KEY, NEXT]), TEXT, [key, next])).toBe(true);
  expect(vouchesFor(note, authorizationText('sweep', NAME, 'org_b', recorded(METADATA)), [key])).toBe(false);
  expect(vouchesFor(null, TEXT, [key])).toBe(false);
  expect(vouchesFor(note.slice(0, -10), TEXT, [key])).toBe(false);
});

it('is signed again by another key when the first has signed it, and it is a sweep of that organization', () => {
  const by = publicHalf(KEY);
  const origin = authorizationOrigin('sweep', NAME, 'org_a');
  expect(vouchesFor(signedAgain(signNote(TEXT, [KEY]), origin, by, [KEY, NEXT])!, TEXT, [by, publicHalf(NEXT)])).toBe(true);
  expect(signedAgain(signNote(TEXT, [NEXT]), origin, by, [KEY, NEXT])).toBeUndefined();
  expect(signedAgain(signNote(authorizationText('sweep', NAME, 'org_b', recorded(METADATA)), [KEY]), origin, by, [NEXT])).toBeUndefined();
  const { size, root } = readCheckpoint(TEXT)!;
  const checkpoint = checkpointText({ origin: originOf(NAME, 'org_a'), size, root });
  expect(signedAgain(signNote(checkpoint, [KEY]), origin, by, [NEXT])).toBeUndefined();
});

it.each(['sweep', 'erasure'] as const)('of a %s is no checkpoint of any tree, none of the other, and no checkpoint is one', (order) => {
  const text = authorizationText(order, NAME, 'org_a', recorded(METADATA));
  const [note, keys] = [signNote(text, [KEY]), [publicHalf(KEY)]];
  for (const tree of ['org_a', 'platform']) expect(openCheckpoint(note, keys, originOf(NAME, tree))).toHaveProperty('wrong');
  expect(keptByCaller([note], NAME)).toEqual([]);
  const { size, root } = readCheckpoint(text)!;
  const checkpoint = signNote(checkpointText({ origin: originOf(NAME, 'org_a'), size, root }), [KEY]);
  expect(vouchesFor(checkpoint, text, keys)).toBe(false);
  const others = [waiveCheckpoint({ size, root }, [KEY]).note, signRecovery(new Date(size), KEY)];
  const ofOtherOperation = signNote(authorizationText(order === 'sweep' ? 'erasure' : 'sweep', NAME, 'org_a', recorded(METADATA)), [KEY]);
  for (const other of [...others, ofOtherOperation]) {
    expect(openCheckpoint(other, keys, authorizationOrigin(order, NAME, 'org_a'))).toHaveProperty('wrong');
  }
  expect(waivedCheckpointIn({ size, root, note }, NAME, keys)).toBeUndefined();
});

it('lists a cut as it is, and no other', () => {
  expect(listsCutPoint(METADATA, CUT)).toBe(true);
  for (const other of [{ seq: 5 }, { count: 5 }, { hash: 'b'.repeat(64) }, { chain: 'agt_3' }]) {
    expect(listsCutPoint(METADATA, { ...CUT, ...other })).toBe(false);
  }
  expect(listsCutPoint({}, CUT)).toBe(false);
});
