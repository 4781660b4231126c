import { keccak_256 } from '@noble/hashes/sha3.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { base58, bech32, bech32m, createBase58check } from '@scure/base';
import { beginsHere, endsHere, type Scan } from '../scan.js';

const BASE58 = /[13][1-9A-HJ-NP-Za-km-z]{25,34}/y;
const BECH32 = /(?:bc1|BC1)[02-9ac-hj-np-zAC-HJ-NP-Z]{11,71}/y;
const ETHEREUM = /0x[0-9a-fA-F]{40}/y;
/** Version byte and hash of a key or a script. */
const BASE58_BYTES = 21;

const base58check = createBase58check(sha256);

/**
 * A Bitcoin address (base58check, BIP 173, BIP 350) or an Ethereum one (EIP-55; written in one case it has no checksum and needs a
 * word).
 */
export function walletAddress(scan: Scan, start: number): void {
  const { text } = scan;
  const code = text.charCodeAt(start) | 0x20;
  const match = scan.matchAt(code === 0x62 ? BECH32 : text.startsWith('0x', start) ? ETHEREUM : BASE58, start);
  if (!match || !beginsHere(text, start)) return;
  const [address] = match;
  const end = start + address.length;
  if (!endsHere(text, end)) return;
  scan.work.spend(30);
  if (address.startsWith('0x')) ethereum(scan, address, start, end);
  else if (isBitcoin(address)) scan.add('CRYPTO', start, end, 1);
}

function isBitcoin(address: string): boolean {
  try {
    if (/^bc1/i.test(address)) return isSegwit(address);
    return base58.decode(address).length === BASE58_BYTES + 4 && base58check.decode(address).length === BASE58_BYTES;
  } catch {
    return false;
  }
}

function isSegwit(address: string): boolean {
  // The version of the witness decides which of the two checksums is right.
  const encoding = /^bc1q/i.test(address) ? bech32 : bech32m;
  return encoding.decodeUnsafe(address as `${string}1${string}`) !== undefined;
}

function ethereum(scan: Scan, address: string, start: number, end: number): void {
  const digits = address.slice(2);
  const lower = digits.toLowerCase();
  if (digits === lower || digits === digits.toUpperCase()) {
    if (scan.hasContext('CRYPTO', start, end)) scan.add('CRYPTO', start, end, 0.85);
    return;
  }
  const hash = bytesToHex(keccak_256(new TextEncoder().encode(lower)));
  const isRight = [...digits].every((digit, index) => /\d/.test(digit) || (digit === digit.toUpperCase()) === (parseInt(hash[index]!,
    16) >= 8));
  if (isRight) scan.add('CRYPTO', start, end, 1);
}
