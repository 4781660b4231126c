import { isIP } from 'node:net';
import { Inject, Injectable } from '@nestjs/common';
import type {
  AuthenticationResponseJSON, PublicKeyCredentialCreationOptionsJSON, PublicKeyCredentialRequestOptionsJSON, RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { CONFIG, type CompleteConfig } from '../../../../platform/config/config.js';
import { Problem } from '../../../../platform/http/reply/problem.js';
import { CHALLENGE_SECONDS } from './challenges.js';

/** COSE: EdDSA, ES256, RS256 (WebAuthn, section 5.8.5). */
const ALGORITHMS = [-8, -7, -257];
const NAME = 'Countersign';
const TIMEOUT_MS = CHALLENGE_SECONDS * 1_000;

/** The key of a passkey, as it is kept. */
export interface PasskeyKey {
  readonly credentialId: string;
  readonly publicKey: Buffer;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly deviceType: string;
  readonly backedUp: boolean;
}

/** For whom a passkey is made, as the browser shows them. */
export interface PasskeyOwner {
  readonly userId: string;
  readonly email: string | null;
  readonly name: string | null;
}

/** What an authenticator has vouched for. */
export interface Assertion {
  readonly counter: number;
  readonly backedUp: boolean;
}

/** Whether a challenge that came back is one that was given. */
export type IsOurs = (challenge: string) => boolean;

/**
 * This service as authenticators know it: by the host of APP_URL, which has to be a name. The library is read at its first use: whoever
 * never signs in by a passkey does not wait for it at the start.
 */
@Injectable()
export class RelyingParty {
  private readonly id: string;
  private readonly origin: string;
  private readonly isLocal: boolean;

  constructor(@Inject(CONFIG) config: Pick<CompleteConfig, 'appUrl' | 'oidcIssuer'>) {
    const { hostname, origin } = new URL(config.appUrl);
    this.id = hostname;
    this.origin = origin;
    this.isLocal = config.oidcIssuer === undefined;
  }

  /** Whether people sign in by passkeys here: not beside an identity provider, and not at an address instead of a name. */
  get isOffered(): boolean {
    return this.isLocal && isIP(this.id.replace(/^\[|\]$/g, '')) === 0;
  }

  /** @throws Problem NOT_FOUND */
  assertOffered(): void {
    if (this.isOffered) return;
    throw new Problem('NOT_FOUND', this.isLocal
      ? 'There are no passkeys here: they need a host name, and APP_URL has an address.'
      : 'There are no passkeys here: people sign in through the identity provider.');
  }

  /** Names no credentials: who has one here is nobody's business. */
  async requestOptions(challenge: Uint8Array<ArrayBuffer>): Promise<PublicKeyCredentialRequestOptionsJSON> {
    const { generateAuthenticationOptions } = await import('@simplewebauthn/server');
    return generateAuthenticationOptions({ rpID: this.id, challenge, timeout: TIMEOUT_MS, userVerification: 'required' });
  }

  /** @param there credentials of the same person, of which no second one is made on the same device */
  async creationOptions(
    challenge: Uint8Array<ArrayBuffer>, { userId, email, name }: PasskeyOwner, there: readonly string[],
  ): Promise<PublicKeyCredentialCreationOptionsJSON> {
    const { generateRegistrationOptions } = await import('@simplewebauthn/server');
    const called = email ?? name ?? userId;
    return generateRegistrationOptions({
      rpName: NAME, rpID: this.id, challenge, timeout: TIMEOUT_MS, attestationType: 'none', supportedAlgorithmIDs: ALGORITHMS,
      userID: Uint8Array.from(Buffer.from(userId, 'latin1')), userName: called, userDisplayName: name ?? called,
      excludeCredentials: there.map((id) => ({ id })),
      authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
    });
  }

  /** The counter is not compared here: that needs a lock. @returns undefined for one that does not hold */
  async judgeAssertion(
    response: AuthenticationResponseJSON, isOurs: IsOurs, { credentialId, publicKey }: Pick<PasskeyKey, 'credentialId' | 'publicKey'>,
  ): Promise<Assertion | undefined> {
    const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
    const { verified, authenticationInfo } = await orRefused(() => verifyAuthenticationResponse({
      response, expectedChallenge: isOurs, expectedOrigin: this.origin, expectedRPID: this.id, requireUserVerification: true,
      credential: { id: credentialId, publicKey: Uint8Array.from(publicKey), counter: 0 },
    })) ?? { verified: false };
    return verified ? { counter: authenticationInfo.newCounter, backedUp: authenticationInfo.credentialBackedUp } : undefined;
  }

  /** @returns undefined for one that does not hold */
  async judgeAttestation(response: RegistrationResponseJSON, isOurs: IsOurs): Promise<PasskeyKey | undefined> {
    const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
    const judged = await orRefused(() => verifyRegistrationResponse({
      response, expectedChallenge: isOurs, expectedOrigin: this.origin, expectedRPID: this.id, requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    }));
    if (judged?.verified !== true) return undefined;
    const { credential, credentialDeviceType, credentialBackedUp } = judged.registrationInfo;
    return {
      credentialId: credential.id, publicKey: Buffer.from(credential.publicKey), counter: credential.counter,
      transports: credential.transports ?? [], deviceType: credentialDeviceType, backedUp: credentialBackedUp,
    };
  }
}

/** The library throws for whatever does not hold, by its own words, which are for nobody here. */
async function orRefused<Result>(judge: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await judge();
  } catch {
    return undefined;
  }
}
