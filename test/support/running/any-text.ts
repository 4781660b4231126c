import fc from 'fast-check';

/** fast-check's own unit `binary` is the same, and fills a table of all characters first: each time a second. */
const character = fc.nat(0x10ffff - 0x800).map((n) => String.fromCodePoint(n < 0xd800 ? n : n + 0x800));

/** Texts of any characters there are. */
export const anyText = ({ maxLength }: { readonly maxLength?: number } = {}): fc.Arbitrary<string> =>
  fc.string({ unit: character, ...(maxLength === undefined ? {} : { maxLength }) });
