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

/** A claim that is made with the effect itself, for a worker that begins at once: a server that dies between keeps nobody waiting for long. */
export const HAND_OVER_SECONDS = 5;
