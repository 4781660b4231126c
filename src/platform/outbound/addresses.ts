import { isIPv4, isIPv6 } from 'node:net';

/** An address as a number of 32 or 128 bits. */
interface Numeric {
  readonly family: 4 | 6;
  readonly value: bigint;
}

interface Range extends Numeric {
  readonly prefix: number;
}

/** Reads an IP address as the system writes it: no zone, no other notation. Undefined for anything else. */
export function parseAddress(text: string): Numeric | undefined {
  if (isIPv4(text)) return { family: 4, value: v4Value(text) };
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  const tail = dotted ? v4Value(dotted[2]!) : 0n;
  const plain = dotted ? `${dotted[1]!}${(tail >> 16n).toString(16)}:${(tail & 0xffffn).toString(16)}` : text;
  const [head = '', rest] = plain.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = rest === undefined || rest === '' ? [] : rest.split(':');
  const groups = [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right];
  return { family: 6, value: groups.reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n) };
}

/** Reads `10.0.0.0/8`, `fd00::/8` or a single address. */
export function parseRange(text: string): Range | undefined {
  const [base = '', length, ...more] = text.split('/');
  const address = parseAddress(base);
  if (!address || more.length > 0) return undefined;
  const bits = address.family === 4 ? 32 : 128;
  if (length === undefined) return { ...address, prefix: bits };
  if (!/^\d{1,3}$/.test(length) || Number(length) > bits) return undefined;
  return { ...address, prefix: Number(length) };
}

export function inRange(address: Numeric, range: Range): boolean {
  if (address.family !== range.family) return false;
  const shift = BigInt((range.family === 4 ? 32 : 128) - range.prefix);
  return address.value >> shift === range.value >> shift;
}

function v4Value(text: string): bigint {
  return text.split('.').reduce((value, part) => (value << 8n) | BigInt(part), 0n);
}

const ranges = (...texts: string[]): readonly Range[] => texts.map((text) => parseRange(text)!);

// IANA's special-purpose registries: what is not for the public internet.
const SPECIAL_V4 = ranges(
  '0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24',
  '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4',
  // A cloud's metadata service on an address that looks public.
  '168.63.129.16/32',
);
const GLOBAL_V6 = parseRange('2000::/3')!;
const SPECIAL_V6 = ranges('2001::/23', '2001:db8::/32', '3fff::/20', '2620:4f:8000::/48');

// Each carries an IPv4 address that a gateway may unpack: IPv4-mapped, NAT64 and 6to4. `shift`: bits below it.
const CARRIERS = [
  { range: parseRange('::ffff:0:0/96')!, shift: 0n },
  { range: parseRange('64:ff9b::/96')!, shift: 0n },
  { range: parseRange('2002::/16')!, shift: 80n },
];

/** Whether an address is on the public internet, those carried within others included. Anything unreadable is not. */
export function isPublicAddress(text: string): boolean {
  const address = parseAddress(text);
  return address !== undefined && isPublic(address);
}

// This machine and private networks: receivers of a trial are there.
const NEARBY = ranges('0.0.0.0/32', '127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '::/127', 'fc00::/7');

/**
 * Whether an address is this machine's or a private network's. Link-local addresses are not among them: on one of these
 * every cloud hands out its machines' credentials.
 */
export function isNearbyAddress(text: string): boolean {
  const address = parseAddress(text);
  return address !== undefined && isNearby(address);
}

function isNearby(address: Numeric): boolean {
  const carrier = CARRIERS.find(({ range }) => inRange(address, range));
  if (carrier) return isNearby({ family: 4, value: (address.value >> carrier.shift) & 0xffffffffn });
  return NEARBY.some((range) => inRange(address, range));
}

function isPublic(address: Numeric): boolean {
  if (address.family === 4) return !SPECIAL_V4.some((range) => inRange(address, range));
  for (const { range, shift } of CARRIERS) {
    if (inRange(address, range)) return isPublic({ family: 4, value: (address.value >> shift) & 0xffffffffn });
  }
  return inRange(address, GLOBAL_V6) && !SPECIAL_V6.some((range) => inRange(address, range));
}

/** What an operator lets the service reach although it is not public: names and addresses, with or without a port, and ranges. */
export class AllowList {
  /** Names, as `name` or `name:port`. */
  private readonly names = new Set<string>();
  private readonly ranges: { readonly range: Range; readonly port?: string }[] = [];

  constructor(entries: readonly string[]) {
    for (const entry of entries) this.add(entry.trim().toLowerCase());
  }

  hasName(hostname: string, port: string): boolean {
    return this.names.has(hostname) || this.names.has(`${hostname}:${port}`);
  }

  hasAddress(text: string, port: string): boolean {
    const address = parseAddress(text);
    if (!address) return false;
    return this.ranges.some((allowed) => inRange(address, allowed.range) && (allowed.port ?? port) === port);
  }

  private add(entry: string): void {
    const plain = parseRange(entry);
    if (plain) return void this.ranges.push({ range: plain });
    const [, host = '', port] = /^(\[[0-9a-f:.]+\]|[a-z0-9_][a-z0-9_.-]*?)\.?(?::(\d{1,5}))?$/.exec(entry) ?? [];
    if (host === '') throw new Error(`OUTBOUND_ALLOW: "${entry}" is neither a host name nor an address nor a range`);
    const range = parseRange(host.replace(/^\[(.*)\]$/, '$1'));
    if (range) this.ranges.push(port === undefined ? { range } : { range, port });
    else this.names.add(port === undefined ? host : `${host}:${port}`);
  }
}
