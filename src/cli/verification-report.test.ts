import { describe, expect, it } from '@jest/globals';
import type { Verification } from '../modules/audit/verification.js';
import { verificationReport } from './verification-report.js';

const whole: Verification = {
  valid: true, verdict: 'valid_unanchored', chains: 1, entries: 12_345, checkpoint: null, uncovered: 3, members: {},
  notes: [], breaks: [], breaksFound: 0,
  durationMs: 1_250,
};

describe('the report of a verification', () => {
  it('says first that all is well, then what that rests on', () => {
    expect(verificationReport(whole, false)).toBe(
      [
        '', '  ✔ The audit log is as it was written.', '', '    12,345 entries in 1 chain, read in 1.3 s',
        '    No checkpoint outside of this database vouches for the newest entries yet.', '', '',
      ].join('\n'),
    );
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
});
