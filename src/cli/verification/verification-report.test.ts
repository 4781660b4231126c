import { describe, expect, it } from '@jest/globals';
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
        '    integrity only: not compared with rows, and nothing of the gate decided anew',
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

  it('reports the archives, where they were verified', () => {
    const archives = (breaks: number) =>
      verificationReport({ ...whole, members: { archives: { checked: 2, entries: 1_200, breaks } } }, false);
    expect(archives(0)).toContain('    2 archives with 1,200 swept entries, as they were swept\n');
    expect(archives(1)).toContain('    2 archives with 1,200 swept entries, altered in 1 place\n');
    expect(verificationReport(whole, false)).not.toContain('archive');
  });
});
