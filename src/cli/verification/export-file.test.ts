import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ExportProgress } from './export-file.js';

const SECTION = '{"chains":1,"kind":"section","organizationId":"org_x","size":4}';
const ENTRY = '{"kind":"entry","payload":"{\\"kind\\":\\"section\\",\\"size\\":9}"}';
const FILE = `${['{"kind":"export"}', SECTION, ENTRY, ENTRY, ENTRY].join('\n')}\n`;
const THREE_QUARTERS = '[#######################-------]  75 %  5 lines';

describe('how far an export has come', () => {
  it('is counted in lines until a section says how many leaves its tree has', () => {
    const progress = new ExportProgress();
    expect(progress.after('{"kind":"export"}\n{"kind":"check')).toBe('1 lines');
    expect(progress.after('point"}\n')).toBe('2 lines');
  });

  it('is known of a text that ends right behind a section, before the end of its line', () => {
    const progress = new ExportProgress();
    expect(progress.after(SECTION)).toBe('0 lines');
    expect(progress.after('\n{"kind":"entry"}\n')).toBe('[########----------------------]  25 %  2 lines');
  });

  it('is known of the form json, in which a comma stands behind a section', () => {
    const shown = new ExportProgress().after(`{"lines":[\n${SECTION},\n{"kind":"entry"},\n`);
    expect(shown).toBe('[########----------------------]  25 %  3 lines');
  });

  it('is never more than all of a section, and begins anew with the next', () => {
    const progress = new ExportProgress();
    expect(progress.after(`${SECTION}\n${'{"kind":"entry"}\n'.repeat(9)}`)).toBe(`[${'#'.repeat(30)}] 100 %  10 lines`);
    expect(progress.after(`${SECTION}\n`)).toBe(`[${'-'.repeat(30)}]   0 %  11 lines`);
  });

  it('counts lines that are longer than what is kept of one', () => {
    const progress = new ExportProgress();
    progress.after(`${SECTION}\n`);
    for (let n = 0; n < 3; n++) progress.after('x'.repeat(50_000));
    expect(progress.after('x\n')).toBe('[########----------------------]  25 %  2 lines');
  });

  it('is the same wherever the texts are cut', () => {
    fc.assert(fc.property(fc.array(fc.nat(FILE.length), { maxLength: 12 }), (cuts) => {
      const borders = [0, ...cuts.toSorted((a, b) => a - b), FILE.length];
      const progress = new ExportProgress();
      const progressed = borders.slice(1).map((border, n) => progress.after(FILE.slice(borders[n], border)));
      expect(progressed.at(-1)).toBe(THREE_QUARTERS);
    }));
    for (let at = 0; at <= FILE.length; at++) {
      const progress = new ExportProgress();
      progress.after(FILE.slice(0, at));
      expect(progress.after(FILE.slice(at))).toBe(THREE_QUARTERS);
    }
  });
});
