import { beginsHere, endsHere, type Scan } from '../scan.js';

const IPV4 = /(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?![\d.]*\d)(?:\/\d{1,2}(?!\d))?(?![\w-])/y;
const IPV6 = /[0-9a-f]{1,4}(?::{1,2}[0-9a-f]{1,4}){2,7}(?:::)?|[0-9a-f]{1,4}(?::{1,2}[0-9a-f]{1,4}){0,6}::/iy;
const MAC = /(?:[0-9a-f]{2}([:-]))(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}(?![\w:-]*[0-9a-f]{2}[:-])(?![\w])/iy;
const MAC_DOTTED = /[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4}(?![\w.-])/iy;
/** Before four numbers that are no address: versions, sections, object identifiers. */
const VERSION = new RegExp(
  '\\b(?:v|ver|vers|version|versions|release|build|firmware|driver|chapter|section|oid|kapitel|wersja|' +
    'versi[oó]n|versão|версия)[.:]?\\s{0,2}$', 'i');
/** The same before four small numbers. */
const VERSION_MARK = /[@^~=<>§]\s?$/;

/**
 * An IPv4 address but those of nobody (this host, all hosts). Four small numbers may as well be a version: they need a word nearby.
 * An octet of three digits, or of more than 31, is seldom part of one.
 */
export function ipv4(scan: Scan, start: number): void {
  const match = scan.matchAt(IPV4, start);
  if (!match || !beginsHere(scan.text, start)) return;
  const octets = match.slice(1, 5);
  if (octets.some((octet) => Number(octet) > 255 || (octet.length > 1 && octet.startsWith('0')))) return;
  const numbers = octets.map(Number);
  if (numbers[0] === 127 || numbers[0] === 0 || numbers[0] === 255) return;
  const end = start + match[0].length;
  const before = scan.text.slice(Math.max(0, start - 16), start);
  if (VERSION.test(before)) return;
  const isLikely = numbers.filter((octet) => octet > 31).length >= 2 || (numbers[0] === 10 && numbers[3]! > 0 &&
    numbers.some((octet) => octet > 31));
  if (isLikely) scan.add('IP_ADDRESS', start, end, 0.85);
  else if (!VERSION_MARK.test(before) && scan.hasContext('IP_ADDRESS', start, end)) scan.add('IP_ADDRESS', start, end, 0.75);
}

/** An IPv6 address of the ranges that hosts have (RFC 4291): global 2000::/3, local fc00::/7, link fe80::/10. */
export function ipv6(scan: Scan, start: number): void {
  const match = scan.matchAt(IPV6, start);
  if (!match || !beginsHere(scan.text, start)) return;
  const [address] = match;
  const end = start + address.length;
  const next = scan.text.charCodeAt(end);
  if (next === 0x3a || !endsHere(scan.text, end)) return;
  const groups = address.split(/::?/).filter((group) => group !== '');
  const isShort = address.includes('::');
  if (address.indexOf('::') !== address.lastIndexOf('::') || (isShort ? groups.length > 7 : groups.length !== 8)) return;
  if (!/^(?:[23][0-9a-f]{3}|f[cd][0-9a-f]{2}|fe[89ab][0-9a-f])$/i.test(groups[0]!)) return;
  scan.add('IP_ADDRESS', start, end, 0.95);
}

/** A hardware address (EUI-48) in one of its three forms; longer chains of the same kind are fingerprints. */
export function macAddress(scan: Scan, start: number): void {
  if (!beginsHere(scan.text, start) || /[0-9a-f]{2}[:-]$/i.test(scan.text.slice(Math.max(0, start - 3), start))) return;
  const match = scan.matchAt(MAC, start);
  if (match) {
    if (!/^(?:00[:-]){5}00|^(?:ff[:-]){5}ff/i.test(match[0])) scan.add('MAC_ADDRESS', start, start + match[0].length, 0.95);
    return;
  }
  const dotted = scan.matchAt(MAC_DOTTED, start);
  if (dotted && scan.hasContext('MAC_ADDRESS', start, start + 14)) scan.add('MAC_ADDRESS', start, start + 14, 0.85);
}
