import type { Scan } from '../scan.js';

/** Name and password before the host, without which an address is nobody's secret. From the `://` on. */
const CREDENTIALS = /:\/\/[^\s"'<>`/?#@:]{0,256}:[^\s"'<>`/?#@]{1,256}@[^\s"'<>`/?#@]{1,256}/y;
const REST = /[^\s"'<>`]{0,2048}/y;
const SCHEME_MAX = 24;
/** What a writer puts in a password's place. */
const PLACEHOLDER = /:(?:\$|<|\{|%[sv]|\*+@|x+@|password@|passwd@|pass@|pwd@|secret@)/i;

/** An address that carries a password: `postgres://app:…@host/db`. Other addresses are left. @returns where the search goes on */
export function urlWithCredentials(scan: Scan, colon: number): number {
  const { text } = scan;
  let start = colon;
  while (start > 0 && colon - start < SCHEME_MAX && /[a-z0-9+.-]/i.test(text[start - 1]!)) start--;
  const credentials = scan.matchAt(CREDENTIALS, colon);
  scan.work.spend((credentials?.[0].length ?? 10) / 20);
  if (!credentials || start === colon || PLACEHOLDER.test(credentials[0].slice(3))) return colon + 1;
  const from = colon + credentials[0].length;
  const rest = scan.matchAt(REST, from)![0].replace(/[.,;:!?)\]}]+$/, '');
  scan.add('URL', start, from + rest.length, 0.97);
  return from + rest.length;
}
