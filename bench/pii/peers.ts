// Other people's scans of text, in bench/peers with a lock file of their own.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ENTITY_TYPES, type EntityType } from '../../src/domain/pii/entity-types.js';
import type { FoundSpan } from './score.js';

export interface Peer {
  readonly name: string;
  /** The types that it finds too. */
  readonly types: readonly EntityType[];
  /** Redacts a text as its documentation shows it first. */
  redact(text: string): Promise<unknown>;
  /** The same, looking for what ours finds and nothing else. */
  redactShared(text: string): Promise<unknown>;
  find(text: string): Promise<readonly FoundSpan[]>;
}

interface SyncRedactor {
  redact(text: string): string;
}
interface RedactPii {
  SyncRedactor: new (options: object) => SyncRedactor;
}
interface OpenRedaction {
  OpenRedaction: new (options: object) => {
    detect(text: string): Promise<{ detections: readonly { type: string; position: readonly [number, number] }[] }>;
  };
}

/**
 * redact-pii's redactors by type. Its `url` is any address, ours one that carries a password; names and postal addresses we do not
 * find.
 */
const REDACTORS: Partial<Record<EntityType, readonly string[]>> = {
  EMAIL_ADDRESS: ['emailAddress'], PHONE_NUMBER: ['phoneNumber'], CREDIT_CARD: ['creditCardNumber'], IP_ADDRESS: ['ipAddress'],
  US_SSN: ['usSocialSecurityNumber'], SECRET: ['password', 'credentials'],
};
const ALL_REDACTORS = [
  'creditCardNumber', 'streetAddress', 'zipcode', 'phoneNumber', 'ipAddress', 'usSocialSecurityNumber', 'emailAddress', 'username',
  'password',
  'credentials', 'digits', 'url', 'names',
];
/** Stands in no text of the corpus. */
const MARK = '\u0001';

/** OpenRedaction's patterns by type. */
const PATTERNS: Partial<Record<EntityType, readonly string[]>> = {
  EMAIL_ADDRESS: ['EMAIL'], PHONE_NUMBER: ['PHONE_UK_MOBILE', 'PHONE_UK', 'PHONE_US', 'PHONE_INTERNATIONAL', 'PHONE_LINE_NUMBER'],
  CREDIT_CARD: ['CREDIT_CARD'], IBAN_CODE: ['IBAN', 'UK_BANK_ACCOUNT_IBAN'], IP_ADDRESS: ['IPV4', 'IPV6'], MAC_ADDRESS: ['MAC_ADDRESS'],
  URL: ['URL_WITH_AUTH', 'DATABASE_CONNECTION'], CRYPTO: ['BITCOIN_ADDRESS', 'ETHEREUM_ADDRESS'], DATE_OF_BIRTH: ['DATE_OF_BIRTH'],
  SECRET: [
    'OPENAI_API_KEY', 'AWS_SECRET_KEY', 'AWS_ACCESS_KEY', 'PRIVATE_KEY', 'SSH_PRIVATE_KEY', 'GOOGLE_API_KEY', 'STRIPE_API_KEY',
    'GITHUB_TOKEN',
    'SLACK_TOKEN', 'OAUTH_CLIENT_SECRET', 'JWT_TOKEN', 'GENERIC_SECRET', 'BEARER_TOKEN', 'NPM_TOKEN', 'PYPI_TOKEN', 'GENERIC_API_KEY',
    'OAUTH_TOKEN',
  ],
  US_SSN: ['SSN'], CA_SIN: ['SIN_CA', 'CANADIAN_SIN'], BR_CPF: ['BRAZILIAN_CPF'], UK_NINO: ['NATIONAL_INSURANCE_UK'],
  UK_NHS: ['NHS_NUMBER'],
  DE_TAX_ID: ['GERMAN_TAX_ID'], FR_NIR: ['FRENCH_SOCIAL_SECURITY'], ES_NIF: ['SPANISH_DNI'], IT_FISCAL_CODE: ['ITALIAN_FISCAL_CODE'],
  NL_BSN: ['DUTCH_BSN'], PL_PESEL: ['POLISH_PESEL'], TR_TCKN: ['TURKEY_ID'], IN_AADHAAR: ['INDIAN_AADHAAR'], KR_RRN: ['SOUTH_KOREAN_RRN'],
};

/** @throws Error where bench/peers is not installed */
export function loadPeers(): readonly Peer[] {
  const load = createRequire(join(process.cwd(), 'bench', 'peers', 'package.json'));
  return [redactPii(load('redact-pii') as RedactPii), openRedaction(load('@openredaction/core') as OpenRedaction)];
}

function redactPii({ SyncRedactor }: RedactPii): Peer {
  const types = ENTITY_TYPES.filter((type) => REDACTORS[type]);
  const only = (names: readonly string[], globalReplaceWith?: string) => new SyncRedactor({
    globalReplaceWith,
    builtInRedactors: Object.fromEntries(ALL_REDACTORS.map((name) => [name, { enabled: names.includes(name) }])),
  });
  const asItComes = new SyncRedactor({});
  const whole = only(types.flatMap((type) => REDACTORS[type]!));
  const byType = types.map((type) => [type, only(REDACTORS[type]!, MARK)] as const);
  return {
    name: 'redact-pii', types,
    redact: (text) => Promise.resolve(asItComes.redact(text)),
    redactShared: (text) => Promise.resolve(whole.redact(text)),
    // One type at a time, so that none takes another's digits, and its place is known.
    find: (text) => Promise.resolve(byType.flatMap(([type, redactor]) =>
      marked(text, redactor.redact(text)).map(([start, end]) => [start, end, type] as const))),
  };
}

function openRedaction({ OpenRedaction }: OpenRedaction): Peer {
  const typeOf = new Map(ENTITY_TYPES.flatMap((type) => (PATTERNS[type] ?? []).map((pattern) => [pattern, type] as const)));
  const asItComes = new OpenRedaction({});
  const scan = new OpenRedaction({ patterns: [...typeOf.keys()] });
  return {
    name: '@openredaction/core', types: ENTITY_TYPES.filter((type) => PATTERNS[type]),
    redact: (text) => asItComes.detect(text),
    redactShared: (text) => scan.detect(text),
    find: async (text) => (await scan.detect(text)).detections.flatMap(({ type, position: [start, end] }) => {
      const ours = typeOf.get(type);
      return ours === undefined ? [] : [[start, end, ours] as const];
    }),
  };
}

/** Where the marks of a redacted text stand in the original. */
function marked(text: string, redacted: string): [number, number][] {
  const rests = redacted.split(MARK);
  const spans: [number, number][] = [];
  let at = rests[0]!.length;
  for (const [index, rest] of rests.slice(1).entries()) {
    const isLast = index === rests.length - 2;
    const next = isLast ? text.length - rest.length : text.indexOf(rest === '' ? text.slice(at + 1) : rest, at + 1);
    spans.push([at, next]);
    at = next + rest.length;
  }
  return spans;
}
