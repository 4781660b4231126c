import { Injectable } from '@nestjs/common';
import type { PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/server';
import type { Request, Response } from 'express';
import type { JsonObject } from '../../../../domain/json.js';
import type { Tx } from '../../../../platform/database/transaction/tx.js';
import type { UserRef } from '../../../organizations/users/user.store.js';
import { SignInForm } from '../../ports/sign-in-form.js';
import { SpentOnceStore } from '../../ports/spent-once.store.js';
import { Challenges, type ChallengeUse, type Challenge } from './challenges.js';
import { assertionIn, attestationIn } from './passkey-response.js';
import { PasskeysQuery } from '../passkeys.query.js';
import { type Assertion, type PasskeyKey, type PasskeyOwner, RelyingParty } from './relying-party.js';

/** An answer that holds, to a challenge that is still to be spent. */
interface Answered {
  readonly challenge: string;
  readonly until: Date;
}

/** Whose passkey it is, and what its authenticator said. */
export interface ProvenPasskey extends Answered {
  readonly ref: UserRef;
  readonly credentialId: string;
  readonly assertion: Assertion;
}

/** A passkey that was made for an account. */
export interface MadePasskey extends Answered {
  readonly userId: string;
  readonly key: PasskeyKey;
}

/** What is asked of authenticators, and whether what they answer holds. */
@Injectable()
export class PasskeyProofs {
  constructor(
    private readonly party: RelyingParty,
    private readonly challenges: Challenges,
    private readonly form: SignInForm,
    private readonly query: PasskeysQuery,
    private readonly spent: SpentOnceStore,
  ) {}

  /** @throws Problem NOT_FOUND where there are no passkeys */
  assertOffered(): void {
    this.party.assertOffered();
  }

  /** What somebody who comes is asked. @throws Problem NOT_FOUND where there are no passkeys */
  ask(request: Request, response: Response): Promise<PublicKeyCredentialRequestOptionsJSON> {
    this.party.assertOffered();
    return this.party.requestOptions(this.challenges.make('sign-in', this.form.knownAs(request, response)));
  }

  /** What is asked for a passkey to be made. @param there credentials that the account has already */
  async askToMake(
    request: Request, response: Response, use: Exclude<ChallengeUse, 'sign-in'>, owner: PasskeyOwner, there: readonly string[],
  ) {
    this.party.assertOffered();
    const challenge = this.challenges.make(use, this.form.knownAs(request, response), owner.userId);
    return this.party.creationOptions(challenge, owner, there);
  }

  async of(request: Request, answer: JsonObject): Promise<ProvenPasskey | { readonly refused: string }> {
    this.party.assertOffered();
    const assertion = assertionIn(answer);
    if (assertion === undefined) return { refused: 'passkey answer unreadable' };
    const shown = await this.query.shown(assertion.id, assertion.userId);
    if (shown === undefined) return { refused: 'unknown passkey' };
    const found = this.challengeIn(request, 'sign-in');
    const { publicKey, ...ref } = shown;
    const judged = await this.party.judgeAssertion(assertion, found.isOurs, { credentialId: assertion.id, publicKey });
    const answered = found.answered();
    if (answered === undefined) return { refused: 'passkey challenge not ours' };
    if (judged === undefined) return { refused: 'passkey answer does not hold' };
    return { ...answered, ref, credentialId: assertion.id, assertion: judged };
  }

  /** @returns undefined for an answer that is not valid, or was made for something else */
  async made(request: Request, use: Exclude<ChallengeUse, 'sign-in'>, answer: JsonObject): Promise<MadePasskey | undefined> {
    this.party.assertOffered();
    const attestation = attestationIn(answer);
    if (attestation === undefined) return undefined;
    const found = this.challengeIn(request, use);
    const key = await this.party.judgeAttestation(attestation, found.isOurs);
    const answered = found.answered();
    return key === undefined || answered === undefined ? undefined : { ...answered, userId: answered.subject, key };
  }

  /** @returns false for an answer that was used before */
  spend(tx: Tx, { challenge, until }: Answered): Promise<boolean> {
    return this.spent.spend(tx, 'challenge', challenge, until);
  }

  /** Finds the challenge of an answer while the library reads it: `isOurs` is its callback. */
  private challengeIn(request: Request, use: ChallengeUse) {
    const browser = this.form.browserOf(request);
    let found: (Answered & Challenge) | undefined;
    return {
      isOurs: (challenge: string): boolean => {
        const challenged = browser === undefined ? undefined : this.challenges.read(use, browser, challenge);
        found = challenged === undefined ? undefined : { ...challenged, challenge };
        return found !== undefined;
      },
      answered: () => found,
    };
  }
}
