import { isDigit, isLetter, type Scan } from '../scan.js';

/** RFC 5321, 4.5.3.1.1. A longer run of characters before the @ is no address. */
const LOCAL_MAX = 64;
/** Of a domain; the labels and the dots. */
const DOMAIN = new RegExp(
  String.raw`(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.){1,8}` +
    String.raw`(?:xn--[a-z0-9-]{2,59}|\p{L}{2,24})(?![\p{L}\p{N}-]|_+[\p{L}\p{N}])`, 'uy');
/** `icon@2x.png` is a picture for fine screens. */
const PICTURE = /@[1-4]x\.(?:png|jpe?g|gif|svg|webp|avif)$/i;

const [DOT, HYPHEN, UNDERSCORE, PLUS, COLON] = [0x2e, 0x2d, 0x5f, 0x2b, 0x3a];
/** `%`, `&`, `'` and others that RFC 5322 allows, of which these occur. */
const OTHERS = new Set([0x25, 0x26, 0x27, 0x21, 0x23, 0x24, 0x2a, 0x7e]);

/** An address (RFC 5322, the dot-atom form), from its @. Sure by its form. */
export function emailAddress(scan: Scan, at: number): void {
  const { text } = scan;
  let start = at;
  while (start > 0 && at - start <= LOCAL_MAX && isLocal(text.charCodeAt(start - 1))) start--;
  scan.work.spend((at - start) / 20);
  if (at - start > LOCAL_MAX) return;
  // Quotes and dots before an address are the sentence's.
  while (start < at && !isLetter(text.charCodeAt(start)) && !isDigit(text.charCodeAt(start)) &&
    text.charCodeAt(start) !== UNDERSCORE) start++;
  if (start === at || text.charCodeAt(at - 1) === DOT) return;
  const domain = scan.matchAt(DOMAIN, at + 1);
  if (!domain) return;
  scan.work.spend(domain[0].length / 20);
  const end = at + 1 + domain[0].length;
  // `git@example.com:team/repository` names a repository.
  if (text.charCodeAt(end) === COLON && text.slice(start, at) === 'git') return;
  if (PICTURE.test(text.slice(at, end))) return;
  // Markdown's emphasis: `_ada@example.com_`.
  if (text.charCodeAt(end) === UNDERSCORE) while (text.charCodeAt(start) === UNDERSCORE) start++;
  if (start < at) scan.add('EMAIL_ADDRESS', start, end, 0.95);
}

function isLocal(code: number): boolean {
  return isLetter(code) || isDigit(code) || code === DOT || code === HYPHEN || code === UNDERSCORE || code === PLUS || OTHERS.has(code);
}
