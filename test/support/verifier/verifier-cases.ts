import { createHash } from 'node:crypto';
import type { Disclosure } from '../../../src/domain/audit/entry/commitments.js';
import { agentChain } from '../../../src/domain/audit/entry/chain.js';
import type { RecordedEvent } from '../../../src/domain/audit/entry/prepare-entry.js';
import { entryHash, preimage } from '../../../src/domain/audit/entry/entry-hash.js';
import type { StoredEntry } from '../../../src/domain/audit/entry/stored-entry.js';
import type { JsonObject } from '../../../src/domain/json.js';
import {
  exportOf, INSTANCE, linesOf, noteOf, seal, signerOf, SIGNER, type ExportOptions, type Line, type Signer,
} from './export-maker.js';
import type { MemoryLog } from '../memory/memory-log.js';
import type { VerifierCase } from './verifier-case.js';
import { forgedKeys, inWindows, signedOften } from './verifier-key-cases.js';
import { erased, metAgain, modelCalls, nameless, swept } from './verifier-stories.js';
import { scenario } from './verifier-scenario.js';

// Exports with one thing done to each, and what a verifier has to say. The manifest is made anew after the change, as by a service
// whose database was tampered with: only the entries themselves, and what was signed before, can tell.

type Change = (lines: Line[]) => Line[];

/** Changes the entry that `which` picks. */
export const onEntry = (which: (entry: Line, n: number) => boolean, change: (entry: Line) => Line | undefined): Change => (lines) => {
  const entries = lines.filter((one) => one.kind === 'entry');
  const picked = entries.find((entry) => which(entry, entries.indexOf(entry)));
  if (!picked) throw new Error('no entry is picked');
  return lines.flatMap((one) => (one === picked ? (change(one) ?? []) : one));
};

export function rehashed(entry: Line): Line {
  const text = (name: string) => (entry[name] ?? undefined) as string | undefined;
  const parts = { agentId: text('agentId'), capability: text('capability'), payload: text('payload')!, prevHash: text('prevHash') };
  return { ...entry, hash: entryHash(preimage(parts)) };
}

const third = (entry: Line) => entry['chain'] === 'agt_2' && entry['seq'] === 3;
const without = (which: (line: Line) => boolean): Change => (lines) => lines.filter((one) => !which(one));
const disclosures = (entry: Line, change: (all: Disclosure[]) => Disclosure[]): Line => ({
  ...entry, disclosures: JSON.stringify(change(JSON.parse(entry['disclosures'] as string) as Disclosure[])),
});

export function verifierCases(): VerifierCase[] {
  const cases: VerifierCase[] = [];
  const { log } = scenario();
  const good = (name: string, from: MemoryLog, options: ExportOptions = {}, verdict: VerifierCase['verdict'] = 'valid') =>
    cases.push({ name, lines: exportOf(from, options), verdict, kinds: [] });
  const bad = (name: string, kinds: string[], change: Change, options: ExportOptions = {}, from = log) =>
    cases.push({ name, lines: seal(change(linesOf(from, options))), verdict: 'tampered', kinds });

  good('valid', log);
  good('valid-erased', erased().log);
  good('valid-erased-with-names', nameless().log);
  const { cuts, log: sweptLog } = swept();
  good('valid-swept', sweptLog, { cuts });
  const models = modelCalls().log;
  good('valid-model-calls', models);
  good('valid-range', erased().log, { range: [4, 11] });
  good('valid-agent', erased().log, { agentId: 'agt_2', organizations: ['org_a'] });
  const person: ExportOptions = { what: 'person', shows: ({ seq }) => seq % 3 === 0 };
  good('valid-person', log, person);
  const goesOn = ['a', 'b', 'c'].map((id): Line => ({ kind: 'records', records: { hitl: { decided: [{ id }] } } }));
  const several = seal([...linesOf(log, person), ...goesOn]);
  cases.push({ name: 'valid-person-with-many-records', lines: several, verdict: 'valid', kinds: [] });
  good('valid-person-met-again', log, { what: 'person', organizations: ['org_a'], shows: metAgain });
  const [older, newer] = [SIGNER, signerOf(8)];
  const rotated = scenario();
  rotated.rotate(newer.vkey);
  good('valid-rotated', rotated.log, { signers: [older, newer] });
  const newest = signerOf(10);
  const thrice = scenario();
  thrice.rotate(newer.vkey);
  thrice.rotate(newest.vkey, newer, 2);
  good('valid-rotated-twice', thrice.log, { signers: [older, newer, newest] });
  good('valid-unanchored', log, { anchored: (_, leaves) => Math.max(0, leaves - 3) }, 'valid_unanchored');
  good('valid-unanchored-no-checkpoint', log, { anchored: () => 0 }, 'valid_unanchored');
  const youngest = { anchored: (id: string, leaves: number) => (id === 'org_b' ? 0 : leaves) };
  good('valid-unanchored-young-organization', log, youngest, 'valid_unanchored');

  const elsewhere = (entry: Line): Line => ({ ...entry, payload: (entry['payload'] as string).replace('rest', 'page') });
  bad('edited-payload', ['edited'], onEntry(third, elsewhere));
  bad('edited-and-rehashed', ['tree_mismatch', 'forked'], onEntry(third, (entry) => rehashed(elsewhere(entry))));
  for (const [name, version] of [['text', '"1"'], ['list', '[1]']] as const) {
    const versioned = (entry: Line) => rehashed({ ...entry, payload: (entry['payload'] as string).replace('"v":1', `"v":${version}`) });
    bad(`edited-version-as-${name}`, ['edited'], onEntry(third, versioned));
  }
  const counted = (of: string, as: string): Change => onEntry((entry) => entry['event'] === 'llm.pii_detected', (entry) =>
    ({ ...entry, payload: (entry['payload'] as string).replace(of, as) }));
  bad('edited-model-call-counts', ['edited'], counted('"IBAN_CODE":3', '"IBAN_CODE":1'), {}, models);
  bad('edited-model-call-type', ['edited'], counted(',"IBAN_CODE":3', ''), {}, models);
  const cheaper = (entry: Line) =>
    rehashed({ ...entry, payload: (entry['payload'] as string).replace('"completionTokens":7', '"completionTokens":1') });
  const firstCall = onEntry((entry) => entry['event'] === 'llm.request', cheaper);
  bad('edited-model-call-tokens-and-rehashed', ['tree_mismatch', 'forked'], firstCall, {}, models);
  bad('edited-value', ['edited'], onEntry(third, (entry) => disclosures(entry, (all) => all.map((one) => ({ ...one, value: '"x"' })))));
  bad('edited-values-swapped', ['edited'], onEntry(third, (entry) => disclosures(entry, (all) => {
    const [first, second, ...rest] = all;
    return [{ ...first!, value: second!.value!, salt: second!.salt! }, { ...second!, value: first!.value!, salt: first!.salt! }, ...rest];
  })));
  bad('edited-capability', ['edited'], onEntry(third, (entry) => ({ ...entry, capability: 'web.post' })));
  bad('column-mismatch', ['column_mismatch'], onEntry(third, (entry) => ({ ...entry, actorId: 'usr_z' })));
  bad('column-mismatch-previous', ['column_mismatch'], onEntry(third, (entry) => ({ ...entry, prevHash: '0'.repeat(64) })));
  bad('deleted', ['deleted'], onEntry(third, () => undefined));
  bad('deleted-from-the-queue', ['deleted'], onEntry(third, () => undefined), { anchored: () => 0 });
  bad('inserted', ['tree_mismatch'], (lines) => {
    const at = lines.findIndex((one) => one.kind === 'entry' && third(one));
    return [...lines.slice(0, at), rehashed({ ...lines[at]!, capability: 'web.post' }), ...lines.slice(at)];
  });
  const arrives = (one: Line) => one['organizationId'] === 'org_a' && (one['payload'] as string).includes('"direction":"in"');
  bad('inserted-after-the-agent-left', ['inserted'], onEntry(arrives, () => undefined), { anchored: () => 0 });
  bad('inserted-beyond-the-head', ['inserted'], (lines) => lines.map((one) =>
    one.kind === 'head' && one['chain'] === 'agt_2' ? { ...one, seq: (one['seq'] as number) - 1 } : one));
  bad('reordered', ['reordered'], (lines) => {
    const [first, second] = lines.filter((one) => one.kind === 'entry' && one['chain'] === 'agt_2');
    return lines.map((one) => (one === first ? second! : one === second ? first! : one));
  }, { anchored: () => 0 });
  bad('forked', ['forked'], (lines) => {
    const at = lines.findIndex((one) => one.kind === 'entry' && third(one));
    return [...lines.slice(0, at), rehashed({ ...lines[at]!, capability: 'web.post' }), ...lines.slice(at)];
  }, { anchored: () => 0 });
  const last = log.entries.findLast((one) => one.chain === 'agt_4')!;
  bad('truncated', ['truncated'], without((one) => one['id'] === last.id), { anchored: () => 0 });
  bad('truncated-with-its-head', ['truncated'], (lines) => {
    const of = (one: Line) => one['organizationId'] === 'org_b';
    const tail = lines.filter((one) => one.kind === 'entry' && of(one)).at(-1)!;
    const before = lines.findLast((one) => one.kind === 'entry' && one['chain'] === tail['chain'] && one !== tail && of(one))!;
    return lines.filter((one) => one !== tail).map((one) =>
      one.kind === 'head' && of(one) && one['chain'] === tail['chain'] ? { ...one, seq: before['seq'], hash: before['hash'] } : one);
  });
  bad('chain-removed', ['chain_removed'], without((one) => one.kind === 'entry' && one['chain'] === 'agt_2'), { anchored: () => 0 });
  bad('chain-removed-with-its-head', ['chain_removed', 'tree_mismatch'], without((one) => one['chain'] === 'agt_2'));
  bad('organization-removed', ['chain_removed'], without((one) => one['organizationId'] === 'org_b'));
  const isNoteOf = (tree: string) => (one: Line) =>
    one.kind === 'checkpoint' && (one['note'] as string).startsWith(`${INSTANCE}/${tree}\n`);
  bad('organization-removed-and-its-name', ['tree_mismatch'], (lines) =>
    without((one) => one['organizationId'] === 'org_b' || isNoteOf('org_b')(one))(lines).map((one) =>
      one.kind === 'export' ? { ...one, organizations: ['org_platform', 'org_a'] } : one));
  bad('organization-too-many', ['tree_mismatch'], (lines) => lines.flatMap((one) =>
    isNoteOf('org_b')(one) ? [one, { ...one, note: noteOf(`${INSTANCE}/org_c\n1\n${'A'.repeat(43)}=\n`, [SIGNER]) }] : [one]));
  const asYoung: Change = (lines) => without(isNoteOf('org_b'))(lines).map((one) =>
    one['organizationId'] !== 'org_b' ? one
    : one.kind === 'entry' ? { ...one, index: null }
    : one.kind === 'section' ? { ...one, size: 0 }
    : one.kind === 'map' ? { ...one, size: 0, root: createHash('sha256').digest('base64') } : one);
  bad('checkpoints-taken-away', ['checkpoint_invalid'], asYoung, { organizations: ['org_a', 'org_b'] });
  bad('checkpoints-and-map-taken-away', ['checkpoint_invalid'],
    (lines) => without((one) => one.kind === 'map' && one['size'] === 0)(asYoung(lines)), { organizations: ['org_a', 'org_b'] });
  bad('young-without-proof', ['checkpoint_invalid'], without((one) => one.kind === 'map' && one['size'] === 0), youngest);
  const order = (one: Line | StoredEntry) => one['event'] === 'gdpr.erasure_executed';
  const isErasureNote = (one: Line) => one.kind === 'erasure';
  bad('unauthorised-erasure', ['unauthorised_erasure'], without((one) => order(one) || isErasureNote(one)), { anchored: () => 0 },
    erased().log);
  bad('unauthorised-erasure-of-another-value', ['unauthorised_erasure'],
    onEntry(third, (entry) => disclosures(entry, (all) => all.map(({ value: _, ...one }) => ({ ...one, erased: true })))));
  bad('forged-erasure', ['edited'], onEntry(third, (entry) =>
    disclosures(entry, (all) => all.map((one) => ({ ...one, value: '"[erased]"' })))));
  bad('fake-sweep', ['deleted'], (lines) => lines.map((one) =>
    one.kind === 'seam' ? { ...one, sweepEntryId: 'audit_none' } : one), { cuts }, sweptLog);
  bad('sweep-of-more', ['deleted'], (lines) => lines.map((one) =>
    one.kind === 'seam' && one['chain'] === 'agt_1' ? { ...one, seq: 3, count: 3 } : one), { cuts }, sweptLog);
  bad('sweep-beyond-its-checkpoint', ['deleted'], (lines) => lines.map((one) =>
    one.kind === 'seam' ? { ...one, checkpoint: { ...(one['checkpoint'] as object), size: 5 } } : one), { cuts }, sweptLog);
  const isOrder = (one: Line) => one.kind === 'sweep';
  const signedBy = (signer: Signer, change = (text: string) => text, is = isOrder): Change => (lines) => lines.map((one) =>
    is(one) ? { ...one, note: noteOf(change((one['note'] as string).split('\n\n')[0]! + '\n'), [signer]) } : one);
  bad('sweep-that-nobody-signed', ['deleted'], without(isOrder), { cuts }, sweptLog);
  bad('sweep-signed-twice', ['deleted'], (lines) => lines.flatMap((one) => (isOrder(one) ? [one, one] : [one])), { cuts }, sweptLog);
  bad('sweep-signed-by-another-key', ['deleted'], signedBy(signerOf(9)), { cuts }, sweptLog);
  bad('sweep-signed-for-another-organization', ['deleted'], signedBy(SIGNER, (text) => text.replace('/org_a/', '/org_b/')),
    { cuts }, sweptLog);
  const before = scenario();
  const real = before.sweep('org_a', 12, { agt_1: 2, agt_2: 2 });
  const forged = before.sweep('org_a', 14, { agt_1: 4 });
  bad('sweep-with-the-signature-of-an-earlier-one', ['deleted'], (lines) => lines.map((one) =>
    isOrder(one) ? { ...one, note: noteOf(real.get('agt_2')!.text, [SIGNER]) } : one),
  { cuts: new Map([...real, ...forged]) }, before.log);
  const reported = swept();
  const sweepEntry = reported.log.entries.find(({ event }) => event === 'admin.audit_retention_sweep')!;
  const retold = reported.made.record('org_a', sweepEntry.event, (JSON.parse(sweepEntry.payload) as { metadata: JsonObject }).metadata);
  bad('sweep-told-of-by-a-copy-with-its-signature', ['deleted'], (lines) => lines, {
    cuts: new Map([...reported.cuts].map(([chain, cut]) => [chain, { ...cut, sweepEntryId: retold.id }])),
  }, reported.log);
  const twice = scenario();
  const both = new Map([...twice.sweep('org_a', 14, { agt_1: 4, sys_org_a: 2 }), ...twice.sweep('org_a', 5, { agt_2: 4 })]);
  bad('swept-beyond-an-older-checkpoint', ['deleted'], (lines) => lines, { cuts: both }, twice.log);
  const unsigned = (name: string, change: Change, from = erased().log) =>
    bad(`erasure-${name}`, ['unauthorised_erasure'], change, {}, from);
  unsigned('that-nobody-signed', without(isErasureNote));
  unsigned('signed-by-another-key', signedBy(signerOf(9), undefined, isErasureNote));
  unsigned('signed-for-another-organization', signedBy(SIGNER, (text) => text.replace('/org_a/', '/org_b/'), isErasureNote));
  unsigned('signed-as-a-sweep', signedBy(SIGNER, (text) => text.replace('/erasure\n', '/sweep\n'), isErasureNote));
  unsigned('of-fewer-values-than-were-signed', signedBy(SIGNER, (text) => text.replace('/erasure\n1\n', '/erasure\n2\n'), isErasureNote));
  const again = erased();
  const second = again.log.entries.filter((one) => one.event === 'hitl.rejected' && one.chain === 'agt_2')[0]!;
  again.erase('org_a', again.blank(second, '/metadata/comment'));
  unsigned('with-the-signature-of-an-earlier-one', (lines) => {
    const [earlier] = lines.filter(isErasureNote);
    return lines.map((one) => (isErasureNote(one) ? earlier! : one));
  }, again.log);
  const copied = erased();
  const original = copied.log.entries.find(order)!;
  const { metadata: listed } = JSON.parse(original.payload) as { metadata: { erased: [string, string, string][] } };
  const copy = copied.erase('org_a', listed.erased);
  const noteOver = (id: string) => (lines: readonly Line[]) =>
    lines[lines.findIndex((one) => one.kind === 'entry' && one['id'] === id) - 1]!;
  const withNote = (lines: readonly Line[], id: string, note: Line) => lines.map((one) => (one === noteOver(id)(lines) ? note : one));
  unsigned('copied-with-its-signature', (lines) => withNote(lines, copy.id, noteOver(original.id)(lines)), copied.log);
  const repeated = erased();
  repeated.append(repeated.log.entries.find(order)!);
  unsigned('appended-twice-with-its-signature', (lines) => lines, repeated.log);
  const isBlank = (entry: Line) => (entry['disclosures'] as string).includes('"erased":true');
  const moved = (pointer: string) => onEntry(isBlank, (entry) => disclosures(entry, (all) =>
    all.map((one) => (one.erased ? { ...one, pointer } : one)).sort((a, b) => (a.pointer < b.pointer ? -1 : 1))));
  const oneMember = scenario();
  const called = oneMember.log.entries.find(({ event, chain }) => event === 'execution.started' && chain === 'agt_2')!;
  oneMember.erase('org_a', oneMember.blank(called, '/metadata/input/to'));
  unsigned('moved-to-a-name-that-never-was', moved('/metadata/input/bribe'), oneMember.log);
  unsigned('moved-to-no-name', moved('/metadata/input/[erased]'), oneMember.log);
  bad('erasure-moved-before-an-open-value', ['edited'], moved('/metadata/input/amount'), {}, oneMember.log);
  bad('erasure-moved-out-of-its-place', ['edited'], moved('/metadata/comments'), {}, erased().log);
  bad('erasure-note-over-no-erasure', ['reordered'], (lines) => {
    const note = lines.find(isErasureNote)!;
    const at = lines.findIndex((one) => one.kind === 'entry' && third(one));
    return [...lines.slice(0, at), note, ...lines.slice(at)];
  }, {}, erased().log);
  bad('gap-without-reason', ['deleted'], (lines) => {
    const entry = lines.findIndex((one) => one.kind === 'entry' && one['chain'] === 'agt_2');
    const index = lines[entry]!['index'] as number;
    const gap = linesOf(log, { agentId: 'agt_1', organizations: ['org_a'] }).find((one) => one.kind === 'gap')!;
    return lines.map((one, n) => (n === entry ? { ...gap, from: index, to: index + 1, nodes: [(gap['nodes'] as string[])[0]] } : one));
  });
  const otherKey = linesOf(log, { signers: [signerOf(9)] });
  bad('checkpoint-of-another-key', ['checkpoint_invalid'], (lines) => lines.map((one, n) =>
    one.kind === 'checkpoint' ? otherKey[n]! : one));
  bad('checkpoint-without-signature', ['checkpoint_invalid'], (lines) => lines.map((one) =>
    one.kind === 'checkpoint' ? { ...one, note: (one['note'] as string).replace(/\n\n[^]*/, '\n\n') } : one));
  bad('checkpoint-with-a-name-that-is-none', ['checkpoint_invalid'], (lines) => lines.map((one) =>
    one.kind === 'checkpoint' ? { ...one, note: `${one['note'] as string}\u2014 a+b AAAAAAAA\n` } : one));
  cases.push(...signedOften(log));
  const registered = scenario();
  registered.add({ chain: agentChain('org_a', 'agt_2'), agentId: 'agt_2', type: 'agent.registered', metadata: REGISTERED });
  bad('inserted-second-registration', ['inserted'], (lines) => lines, {}, registered.log);
  const begunTwice = scenario();
  begunTwice.call('org_b', 'agt_2', 300);
  bad('inserted-chain-begun-elsewhere', ['inserted'], (lines) => lines, {}, begunTwice.log);
  bad('checkpoint-missing', ['checkpoint_invalid'], without((one) => one.kind === 'checkpoint'));
  bad('map-missing', ['checkpoint_invalid'], without((one) => one.kind === 'map'));
  bad('map-of-another-organization', ['checkpoint_invalid'], (lines) => lines.map((one) =>
    one.kind === 'map' ? { ...one, siblings: (one['siblings'] as unknown[]).slice(1) } : one));
  cases.push({
    name: 'retired-key', lines: exportOf(rotated.log, { signers: [older] }), verdict: 'tampered', kinds: ['checkpoint_invalid'],
  });
  cases.push(...inWindows(rotated.log, older, newer));
  for (const { name, lines } of forgedKeys(older, newer)) cases.push({ name, lines, verdict: 'tampered', kinds: ['checkpoint_invalid'] });
  const turned = scenario();
  turned.rotate(newer.vkey);
  const turnedCuts = turned.sweep('org_a', 14, { agt_1: 4, sys_org_a: 2 });
  const byBoth = { cuts: turnedCuts, signers: [older, newer] };
  good('valid-swept-and-rotated', turned.log, byBoth);
  cases.push({
    name: 'sweep-signed-by-the-retired-key', verdict: 'tampered', kinds: ['checkpoint_invalid'],
    lines: seal(signedBy(older)(linesOf(turned.log, byBoth)), [older, newer]),
  });
  const erasedThen = erased();
  erasedThen.rotate(newer.vkey);
  good('valid-erased-and-rotated', erasedThen.log, { signers: [older, newer] });
  cases.push({
    name: 'erasure-signed-by-the-retired-key', verdict: 'tampered', kinds: ['unauthorised_erasure'],
    lines: seal(signedBy(older, undefined, isErasureNote)(linesOf(erasedThen.log, { signers: [older, newer] })), [older, newer]),
  });
  for (const direction of ['sideways', 1, ['in']]) {
    const sideways = scenario();
    sideways.add({
      chain: agentChain('org_a', 'agt_2'), agentId: 'agt_2', type: 'agent.transferred', metadata: { direction },
    } as unknown as RecordedEvent);
    bad(`transferred-${typeof direction === 'string' ? direction : typeof direction}`, ['inserted'], (lines) => lines, {}, sideways.log);
  }
  bad('person-without-proof', ['tree_mismatch'], without((one) => one.kind === 'inclusion'), person);
  const whole = exportOf(log);
  const file = (name: string, kinds: string[], lines: readonly string[]) => cases.push({ name, lines, verdict: 'tampered', kinds });
  file('person-without-some-records', ['edited'], several.filter((one) => !one.includes('"id":"b"')));
  file('file-cut-off', ['truncated'], whole.slice(0, -1));
  file('file-changed', ['edited'], whole.map((one) => (one.includes('"kind":"export"') ? one.replace('06:00:00', '06:00:01') : one)));
  file('file-not-canonical', ['edited'], whole.map((one, n) => (n === 9 ? one.replace('{', '{ ') : one)));
  file('file-with-doubled-name', ['edited'], whole.map((one, n) => (n === 9 ? one.replace('{', '{"actorId":"root",') : one)));
  return cases;
}

const REGISTERED = { name: 'again', riskLevel: 'low' } as const;
