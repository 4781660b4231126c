import type { DutyCommand } from '../../../domain/hitl/duties.js';
import type { JsonObject } from '../../../domain/json.js';
import type { Facts } from '../../authority/facts.js';
import type { HitlRequestEntity } from '../requests/hitl-request.entity.js';

/** What a person sends to decide a request. */
export interface Decision {
  note?: string;
  expectedDigest?: string;
  breakGlass?: boolean;
  /** Of an approval: the input that is to run instead of the request's. */
  editedInput?: JsonObject;
  /** The decision is one of a batch: it approves nothing of level 2, and has to name the digest that was shown. */
  inBatch?: true;
}

/** A request and the present facts about it, read under the same locks. */
export interface DecisionContext {
  request: HitlRequestEntity;
  facts: Facts;
}

export const noteOf = ({ note }: Decision) => (note === undefined ? {} : { note });

export function commandOf(kind: DutyCommand['kind'], { breakGlass, note }: Decision): DutyCommand {
  return { kind, ...(breakGlass === undefined ? {} : { breakGlass }), ...(note === undefined ? {} : { reason: note }) };
}
