import { createHash } from 'node:crypto';
import { jcs } from '../audit/entry/jcs.js';
import type { JsonObject } from '../json.js';
import { type Connector, secretNames } from './connector.js';

/** The parts of a capability's definition that change what an approved call does. */
export interface Definition {
  connector?: Connector;
  inputSchema?: JsonObject;
}

/**
 * SHA-256, base64url without padding (43 characters), of the RFC 8785 form of `{connector?, inputSchema?, secrets}`.
 * It is part of what a human approves: another digest at approval or at run means that the action may no longer run.
 * `secrets` are the sorted names of those that the connector refers to. A new value of one changes no digest.
 */
export function definitionDigest({ connector, inputSchema }: Definition): string {
  const covered = {
    secrets: connector === undefined ? [] : secretNames(connector),
    ...(connector === undefined ? {} : { connector }),
    ...(inputSchema === undefined ? {} : { inputSchema }),
  };
  return createHash('sha256').update(jcs(covered), 'utf8').digest('base64url');
}
