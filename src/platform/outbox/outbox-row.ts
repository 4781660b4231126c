import type { JsonObject } from '../../domain/json.js';
import type { EffectKind } from './effects.js';

export interface OutboxRow {
  organizationId: string;
  id: string;
  kind: EffectKind;
  payload: JsonObject;
  /** How often it was claimed: the claim's own number, by which one that was lost is known. */
  attempts: number;
  createdAt: Date;
}

/** How long a claim holds that is made with the effect itself, for a worker that begins at once: a server that dies keeps nobody long. */
export const DIRECT_DISPATCH_SECONDS = 5;
