import type { JsonObject } from '../../../domain/json.js';

/** Why a model gave no whole answer. The last three are not the provider's doing: the call was broken off here. */
export type FailureCode = 'PROVIDER_ERROR' | 'PROVIDER_TIMEOUT' | 'CLIENT_CLOSED' | 'SERVER_ENDED' | 'SCAN_FAILED';

export interface ProviderFailure {
  readonly code: FailureCode;
  /** Ours: nothing that the provider said stands in it, which may quote the prompt. */
  readonly message: string;
  /** Of the provider's answer, where there was one. */
  readonly status?: number;
  /** What the provider says is wrong with the call itself, for the caller alone. */
  readonly refusal?: JsonObject;
}

/** Thrown while an answer is read. */
export class AnswerBroken extends Error {
  constructor(readonly failure: ProviderFailure) {
    super(failure.message);
  }
}

export function brokenOff(code: 'CLIENT_CLOSED' | 'SERVER_ENDED'): ProviderFailure {
  const who = code === 'CLIENT_CLOSED' ? 'The caller went away' : 'The server ended';
  return { code, message: `${who} before the answer was whole; the model was told to stop.` };
}
