import type { AuthenticationResponseJSON, AuthenticatorTransport, RegistrationResponseJSON } from '@simplewebauthn/server';
import { isId } from '../../../../domain/ids.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../../domain/json.js';

const BASE64URL = /^[A-Za-z0-9_-]+$/;
/** Characters. An id has up to 1,023 bytes (WebAuthn, section 4), a user's handle up to 64; the rest is far from what browsers send. */
const MOST = { id: 1_364, clientDataJSON: 8_192, authenticatorData: 8_192, signature: 4_096, userHandle: 86, attestationObject: 32_768 };
const TRANSPORTS: readonly AuthenticatorTransport[] = ['ble', 'hybrid', 'internal', 'nfc', 'usb'];

type Part = keyof typeof MOST;

/**
 * What a browser answers for signing in (WebAuthn Level 3, `AuthenticationResponseJSON`), with the members that are looked at and no
 * others. Undefined for anything that is none. Without the user's handle it says nothing of whose passkey it is.
 */
export function assertionIn(value: JsonObject): (AuthenticationResponseJSON & { readonly userId: string }) | undefined {
  const known = partsIn(value, ['clientDataJSON', 'authenticatorData', 'signature', 'userHandle']);
  if (known === undefined) return undefined;
  const { clientDataJSON, authenticatorData, signature, userHandle } = known.parts;
  const userId = Buffer.from(userHandle, 'base64url').toString('latin1');
  if (!isId('usr', userId)) return undefined;
  return {
    id: known.id, rawId: known.id, type: 'public-key', clientExtensionResults: {},
    response: { clientDataJSON, authenticatorData, signature, userHandle },
    userId,
  };
}

/** The same for a passkey that is made (`RegistrationResponseJSON`). */
export function attestationIn(value: JsonObject): RegistrationResponseJSON | undefined {
  const known = partsIn(value, ['clientDataJSON', 'attestationObject']);
  if (known === undefined) return undefined;
  return {
    id: known.id, rawId: known.id, type: 'public-key', clientExtensionResults: {},
    response: { ...known.parts, transports: transportsIn((value['response'] as JsonObject)['transports']) },
  };
}

function partsIn<Name extends Part>(value: JsonObject, names: readonly Name[]): { id: string; parts: Record<Name, string> } | undefined {
  const { id, rawId, type, response } = value;
  if (!isPart(id, 'id') || rawId !== id || type !== 'public-key' || !isJsonObject(response)) return undefined;
  if (!names.every((name) => isPart(response[name], name))) return undefined;
  return { id, parts: Object.fromEntries(names.map((name) => [name, response[name]])) as Record<Name, string> };
}

function isPart(value: JsonValue | undefined, part: Part): value is string {
  return typeof value === 'string' && value.length <= MOST[part] && BASE64URL.test(value);
}

/** How to reach it is a hint for later; what nobody knows is left out. */
function transportsIn(value: JsonValue | undefined): AuthenticatorTransport[] {
  return Array.isArray(value) ? TRANSPORTS.filter((transport) => value.includes(transport)) : [];
}
