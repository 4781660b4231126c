import { describe, expect, it } from '@jest/globals';
import { exportOf } from '../../../test/support/verifier/export-maker.js';
import { world } from '../../../test/support/verifier/verifier-world.js';
import type { Covers } from '../../domain/audit/export/superseded/file-covers.js';
import { verifyLines } from '../../domain/audit/export/superseded/verify-lines.js';
import type { Verification } from '../../modules/audit/verification/verification-result.js';
import { verificationReport } from './verification-report.js';

const whole: Verification = {
  valid: true, verdict: 'valid_unanchored', chains: 1, entries: 12_345, checkpoint: null, anchorsNotCompared: [], uncovered: 3, members: {},
  notes: [], breaks: [], breaksFound: 0,
  durationMs: 1_250,
};

describe('the report of a verification', () => {
  it('says first that all is well, then what that rests on', () => {
    expect(verificationReport(whole, false)).toBe(
      [
        '', '  ✔ The audit log is as it was written.', '', '    12,345 entries in 1 chain, read in 1.3 s',
        '    integrity only: not held against rows, and nothing of the gate decided anew',
        '    No checkpoint yet: nothing outside of this log vouches for it.', '', '',
      ].join('\n'),
    );
  });

  it('names checkpoint and anchors, what is younger, and what was found of rows and decisions', () => {
    const checkpoint = {
      origin: 'countersign-1/platform', size: 4_711, root: '', madeAt: '2026-11-22T08:00:00.000Z', note: '',
      anchors: [{ name: 'file:/anchors', size: 4_700 }],
    };
    const members = { completeness: { checked: 2, breaks: 0 }, replay: { right: 1_200, wrong: 0, notReplayable: { erased: 3 } } };
    expect(verificationReport({ ...whole, checkpoint, members }, false).trimEnd().split('\n').slice(4)).toEqual([
      '    2 rows compared with entries, all agree',
      '    1,200 decisions of the gate decided anew, all right; 3 not replayable: erased',
      '    checkpoint 4,711 of 2026-11-22T08:00:00.000Z; anchors: file:/anchors',
      '    3 entries are younger than the last checkpoint.',
    ]);
  });

  it('names each anchor that was not compared, and why', () => {
    const notCompared = [
      { name: 'witness:https://w.example', because: 'shown_nothing' as const }, { name: 'file:/gone', because: 'no_answer' as const },
    ];
    const report = verificationReport({ ...whole, anchorsNotCompared: notCompared }, false);
    expect(report).toContain('anchor witness:https://w.example: it answers only to a checkpoint that it is shown, which servers do\n');
    expect(report).toContain('not compared with the anchor file:/gone: it could not be asked\n');
  });

  it('says of what only the newer part was read, and of what nothing is said', () => {
    const newer = { everything: false, since: [{ organizationId: 'org_1', size: 40_312 }], older: 40_312 };
    const report = verificationReport({ ...whole, entries: 12, chains: 3, members: { newer } }, false);
    expect(report.split('\n').slice(1, 9).map((line) => line.trim())).toEqual([
      '✔ What is newer goes on from what is remembered, and is as it was written.', '',
      '12 entries read, and where 3 chains ended, in 1.3 s', 'org_1 from its checkpoint 40,312 on',
      'not read again: 40,312 older entries, as far as retention has left them;',
      'whether these were changed since, a verification without --newer tells',
      'integrity only: archives and rows are not compared, and nothing of the gate is decided anew, since that takes all entries',
      'No checkpoint yet: nothing outside of this log vouches for it.',
    ]);
    const all = { everything: true, because: 'nothing_remembered', since: [], older: 0 };
    expect(verificationReport({ ...whole, members: { newer: all } }, false)).toContain('everything was read: nothing is remembered yet');
  });

  describe('of a file says what it is of', () => {
    const of = (covers: Covers, limits: object = {}, entries = 42) => {
      const file = { organizations: ['org_1'], agentId: null, from: null, to: null, userId: null, ...limits };
      return verificationReport({ ...whole, entries, members: { covers, file } }, false).split('\n').filter(Boolean).slice(0, 2)
        .map((line) => line.trim());
    };
    const rest = 'of the rest it says nothing';

    it.each<[string, string[], string, string]>([
      ['everything', of('log'), 'The audit log is as it was written.', 'the file covers everything: all organizations, each of them whole'],
      ['some organizations', of('organizations', { organizations: ['org_1', 'org_2', 'org_3', 'org_4', 'org_5'] }),
        'The audit log of org_1, org_2, org_3 and 2 other organizations is as it was written.',
        'the file covers org_1, org_2, org_3 and 2 other organizations, whole; of other organizations it says nothing'],
      ['an agent', of('part', { agentId: 'agt_1' }), 'The chain of agent agt_1 of org_1 is as it was written.',
        `the file covers the chain of agent agt_1 of org_1; ${rest}`],
      ['a window', of('part', { from: '2026-11-22', to: '2026-11-23' }),
        'What is shown of org_1 from 2026-11-22 to 2026-11-23 is as it was written.',
        `the file covers what is shown of org_1 from 2026-11-22 to 2026-11-23; ${rest}`],
      ['a window in which nothing is', of('part', { from: '2026-11-22' }, 0),
        'The file holds no entry; what it says of the log fits what was signed.',
        `the file covers what is shown of org_1 from 2026-11-22; ${rest}`],
      ['a person', of('person', { userId: 'usr_1' }), 'What is shown of usr_1 is as it was written.',
        `the file covers what is about usr_1; ${rest}`],
      ['an archive', of('archive'), "The skeleton of a sweep's archive is as it was written; its values were not read.",
        'the file is the skeleton of an archive of org_1; of its values and of the rest it says nothing: countersign audit verify-archive'
          + ' reads them'],
    ])('%s', (_name, told, headline, covered) => {
      expect(told).toEqual([`✔ ${headline}`, covered]);
    });

    it('also where it was tampered with', () => {
      const file = { organizations: ['org_1'], agentId: 'agt_1', from: null, to: null, userId: null };
      const report = verificationReport(
        { ...whole, valid: false, verdict: 'tampered', breaksFound: 1, members: { covers: 'part', file } }, false);
      expect(report).toContain(`    the file covers the chain of agent agt_1 of org_1; ${rest}\n`);
    });

    it('never that it covers everything where its end was cut off', async () => {
      const lines = exportOf(world().log).slice(0, -3);
      const bytes = async function* () { for (const one of lines) yield Buffer.from(one); };
      const { breaks, breaksFound, members } = await verifyLines(bytes());
      const report = verificationReport({ ...whole, valid: false, verdict: 'tampered', breaks, breaksFound, members }, false);
      expect(report).toContain('    the end of the file was cut off: it is no whole export, ');
      expect(report).not.toContain('covers everything');
    });
  });

  it('says of a database whose chain alone was asked for', () => {
    expect(verificationReport(whole, false, 'agt_1')).toContain('✔ The chain of agent agt_1 is as it was written.\n');
  });

  it('lists the breaks in plain words, and says how many more there are', () => {
    const one = { chain: 'agt_1', position: 7, entryId: 'audit_1', kind: 'edited' as const, detail: 'entry 7 was changed' };
    const gone = { chain: 'agt_1', position: 9, entryId: null, kind: 'truncated' as const, detail: 'entry 9 is missing' };
    const breaks = [one, gone, ...Array<typeof one>(60).fill(one)];
    const report = verificationReport({ ...whole, valid: false, verdict: 'tampered', breaks, breaksFound: 2_062 }, false);
    expect(report).toContain('  ✘ The audit log was tampered with: 2,062 breaks.\n');
    expect(report).toContain('    edited     entry 7 was changed\n               audit_1\n');
    expect(report).toContain('    truncated  entry 9 is missing\n    edited ');
    expect(report.match(/entry 7 was changed/g)).toHaveLength(49);
    expect(report).toContain('… and 2,012 more; --json lists the first 1,000.');
  });

  it('has colour only where it is wanted', () => {
    expect(verificationReport(whole, true)).toContain('\u001b[32m');
    expect(verificationReport(whole, false)).not.toContain('\u001b');
  });

  it('tells what became of the archives, where they were verified', () => {
    const archives = (breaks: number) =>
      verificationReport({ ...whole, members: { archives: { checked: 2, entries: 1_200, breaks } } }, false);
    expect(archives(0)).toContain('    2 archives with 1,200 swept entries, as they were swept\n');
    expect(archives(1)).toContain('    2 archives with 1,200 swept entries, altered in 1 place\n');
    expect(verificationReport(whole, false)).not.toContain('archive');
  });
});
