import type { HitlMode } from './vocabulary.js';

/** A capability as the catalogue describes it. `riskScore` is 0 to 100. */
export interface CatalogueEntry {
  readonly name: string;
  readonly category: string;
  readonly description: string;
  readonly defaultHitlMode: HitlMode;
  readonly hardcoded: boolean;
  readonly riskScore: number;
}

/** Always escalate, whatever a grant says (interface, section 1). */
export const HARDCODED = ['phone.call', 'finance.transfer', 'finance.payment', 'system.shutdown', 'data.delete'] as const;

type Row = readonly [name: string, category: string, mode: HitlMode, riskScore: number, description: string];

const ROWS: readonly Row[] = [
  ['web.search', 'web', 'auto', 10, 'Search the public web and read the results'],
  ['file.read', 'file', 'auto', 15, 'Read a file the agent has been given access to'],
  ['calendar.read', 'calendar', 'auto', 10, 'Read calendar events and availability'],
  ['data.query', 'data', 'auto', 20, 'Query a data source without changing it'],
  ['email.send', 'communication', 'propose', 55, 'Send an e-mail in the name of the organization'],
  ['calendar.write', 'calendar', 'notify', 30, 'Create, move or cancel calendar events'],
  ['file.delete', 'file', 'propose', 65, 'Delete a file'],
  ['data.write', 'data', 'propose', 55, 'Insert or change records in a data source'],
  ['file.write', 'file', 'notify', 40, 'Create a file or change its content'],
  ['web.post', 'web', 'propose', 60, 'Publish or submit content on the web'],
  ['code.execute', 'compute', 'propose', 75, 'Run program code'],
  ['agent.spawn', 'agent', 'escalate', 80, 'Start another agent'],
  ['phone.call', 'communication', 'escalate', 80, 'Call a person by telephone'],
  ['finance.transfer', 'finance', 'escalate', 95, 'Move money between accounts'],
  ['finance.payment', 'finance', 'escalate', 95, 'Pay a third party'],
  ['system.shutdown', 'system', 'escalate', 100, 'Shut a system down'],
  ['data.delete', 'data', 'escalate', 90, 'Delete records from a data source'],
  ['file:read', 'file', 'auto', 15, 'Read a file through an adapter'],
  ['file:write', 'file', 'notify', 40, 'Write a file through an adapter'],
  ['db:read', 'data', 'auto', 20, 'Read from a database through an adapter'],
  ['db:mutate', 'data', 'propose', 60, 'Change a database through an adapter'],
  ['api:call', 'web', 'propose', 45, 'Call an external API through an adapter'],
  ['email:send', 'communication', 'propose', 55, 'Send an e-mail through an adapter'],
  ['llm:invoke', 'llm', 'auto', 25, 'Ask a language model through the gateway'],
];

const hardcoded = new Set<string>(HARDCODED);

/** The built-in table. Every organization has these; admins add their own beside them. */
export const CATALOGUE: readonly CatalogueEntry[] = ROWS.map(([name, category, defaultHitlMode, riskScore, description]) => ({
  name,
  category,
  description,
  defaultHitlMode,
  hardcoded: hardcoded.has(name),
  riskScore,
}));

const byName = new Map(CATALOGUE.map((entry) => [entry.name, entry]));

export function builtIn(name: string): CatalogueEntry | undefined {
  return byName.get(name);
}

export function isHardcoded(name: string): boolean {
  return hardcoded.has(name);
}

/** Names are exact and case-sensitive: `file.write` and `file:write` are two capabilities. */
export const CAPABILITY_NAME = /^[a-z][a-z0-9_-]*([.:][a-z0-9_-]+)+$/;

/** Longest name accepted, in characters; a name stands in index keys and tokens. */
export const CAPABILITY_NAME_MAX = 128;

export function isCapabilityName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= CAPABILITY_NAME_MAX && CAPABILITY_NAME.test(value);
}

// Letters of other scripts and digits that a reader takes for a Latin letter. NFKD removes accents, full-width,
// mathematical and ligature forms before this table is asked, so it names only what has no decomposition.
const LOOK_ALIKES: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ['a', 'аαɑ4@ᴀ'], ['b', 'ЬьΒβвʙ8'], ['c', 'сϲᴄс¢ⅽ'], ['d', 'ԁɗᴅđ'], ['e', 'еεєɛэ3ҽᴇ'], ['f', 'ғƒꜰϝ'],
    ['g', 'ɡɢԍ9'], ['h', 'һнʜћ'], ['i', 'іıιɩɪ1l|!ӏⅼłⲓ'], ['j', 'јϳᴊ'], ['k', 'кκᴋ'], ['m', 'мᴍ'], ['n', 'ոпηɴπ'],
    ['o', 'оοσօ0ᴏøө'], ['p', 'рρþᴘ'], ['q', 'ԛɋ'], ['r', 'гʀᴦ'], ['s', 'ѕꜱ5$ʂ'], ['t', 'тτᴛ7ŧ'],
    ['u', 'υսᴜцʋ'], ['v', 'ѵνᴠ'], ['w', 'ѡωԝᴡшա'], ['x', 'хχ'], ['y', 'уγʏүყ'], ['z', 'ᴢʐ2'],
  ].flatMap(([latin, signs]) => [...signs!].map((sign) => [sign.toLowerCase(), latin!])),
);

/**
 * What a reader sees in a name: case, accents, look-alike letters and digits, and every separator folded away.
 * Two names with one skeleton can be mistaken for each other.
 */
export function skeleton(name: string): string {
  const letters = name.normalize('NFKD').toLowerCase().normalize('NFKD');
  let folded = '';
  for (const sign of letters) {
    const latin = LOOK_ALIKES[sign] ?? sign;
    if (/[a-z]/.test(latin)) folded += latin;
  }
  // Two letters that read as one: rn for m, vv for w, cl for d (the l was folded into i above).
  return folded.replaceAll('rn', 'm').replaceAll('vv', 'w').replaceAll('ci', 'd');
}

const skeletons = new Map(HARDCODED.map((name) => [skeleton(name), name]));

/**
 * The hardcoded capability that this name could be taken for, if any, the exact name included. `Phone.Call`,
 * `phone:call`, `phone_call`, `fínance.payrnent` and names with Cyrillic or Greek letters all resemble one, and
 * nobody may define a second capability that reads like a protected one.
 */
export function resemblesHardcoded(name: string): (typeof HARDCODED)[number] | undefined {
  return skeletons.get(skeleton(name));
}
