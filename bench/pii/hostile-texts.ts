/** A text of about so many characters that makes a careless scan slow. */
export type HostileShape = (length: number) => string;

const repeat = (unit: string): HostileShape => (length) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
const counted = (unit: (index: number) => string): HostileShape => (length) => {
  const pieces: string[] = [];
  for (let index = 0, size = 0; size < length; index++) size += pieces[pieces.push(unit(index)) - 1]!.length;
  return pieces.join('').slice(0, length);
};

/** Beginnings without ends, values one after the other, and near misses: of every recognizer the shape that costs it most. */
export const HOSTILE_SHAPES: Readonly<Record<string, HostileShape>> = {
  'one letter': repeat('a'),
  'one digit': repeat('1'),
  'digits in groups': repeat('1234 '),
  'single digits': repeat('1 '),
  'digits and hyphens': repeat('4111-1111-'),
  'at signs': repeat('@'),
  'letters and at signs': repeat('a@'),
  'dotted domains': repeat('a@b.'),
  'long local parts': repeat(`${'a.'.repeat(40)}@`),
  'schemes': repeat('http://'),
  'schemes with colons': repeat('a://b:'),
  'plus signs and numbers': counted((index) => `+1415555${String(1000 + (index % 9000))} `),
  'numbers behind phone': counted((index) => `tel 0301234${String(1000 + (index % 9000))} `),
  'numbers behind id': counted((index) => `pesel ssn bsn ${String(10_000_000_000 + index * 7919).slice(0, 11)} `),
  'accounts': counted((index) => `DE${String(index % 90 + 10)} 3704 0044 0532 0130 `),
  'wallets': counted((index) => `1BoatSLRHtKNngkdXEeobR76b53LE${String(index % 90 + 10)} `),
  'key beginnings': repeat('-----BEGIN PRIVATE KEY-----'),
  'key without end': (length) => `-----BEGIN PRIVATE KEY-----${'A'.repeat(length)}`,
  'token beginnings': repeat('eyJhbGciOiJ.eyJ'),
  'passwords': counted((index) => `password: aB3$${String(index)} `),
  'births': counted((index) => `born 12 March 19${String(index % 90 + 10)} `),
  'colons': repeat('ab:'),
  'dots': repeat('1.2.3.'),
  'blanks': repeat(' '),
  'brackets': repeat('(1'),
  'tokens': repeat('<EMAIL_ADDRESS_1'),
};
