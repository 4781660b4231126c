// Run in a worker thread: piscina calls what this file exports under the name that it is told, with one argument.
import type { JsonValue } from '../../../domain/json.js';
import { readAnswer, type ReadAnswer } from '../../../domain/pii/answers/answer-body.js';
import type { TokenMap } from '../../../domain/pii/answers/tokens.js';
import type { ProviderFamily } from '../../../domain/pii/body/structural-members.js';
import { previewText, scanCall, type CallToScan, type ScannedCall, type ScannedText } from '../../../domain/pii/scan-call.js';
import type { PiiSettings } from '../../../domain/pii/settings.js';

export function scan(call: CallToScan): ScannedCall {
  return scanCall(call);
}

export function preview([text, settings]: readonly [string, PiiSettings]): ScannedText {
  return previewText(text, settings);
}

export function read([body, family, settings, tokens]: readonly [JsonValue, ProviderFamily, PiiSettings, TokenMap]): ReadAnswer {
  return readAnswer(body, family, settings, tokens);
}
