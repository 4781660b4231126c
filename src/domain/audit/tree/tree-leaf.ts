import { jcsString } from '../entry/jcs.js';
import type { StoredLeaf } from '../entry/stored-entry.js';

/** An entry as a leaf of its organization's tree: JCS({chain, hash, seq}). Binds the position, which the hash does not cover. */
export function entryLeaf({ chain, hash, seq }: Pick<StoredLeaf, 'chain' | 'hash' | 'seq'>): string {
  return `{"chain":${jcsString(chain)},"hash":${jcsString(hash)},"seq":${seq}}`;
}

/** The organizations' tree heads at one moment, as a leaf of the platform's tree: JCS({map, timestamp}), `map` in base64. */
export function platformLeaf({ map, timestamp }: { readonly map: string; readonly timestamp: string }): string {
  return `{"map":${jcsString(map)},"timestamp":${jcsString(timestamp)}}`;
}
