import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto';

/** What of an answer is false, for tests of refusals. */
export interface Falsehood {
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  readonly type?: string;
  readonly counter?: number;
  readonly verified?: boolean;
  readonly userHandle?: string;
  readonly credentialId?: string;
}

interface CreationOptions {
  readonly challenge: string;
  readonly user: { readonly id: string };
}

const PRESENT = 0x01;
const VERIFIED = 0x04;
const ATTESTED = 0x40;
const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest();

/** An authenticator in software (WebAuthn Level 3), with one resident ES256 key and no attestation. It lies where it is told to. */
export class Authenticator {
  private readonly keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  readonly id = randomBytes(32).toString('base64url');
  counter = 0;
  userHandle = '';

  constructor(
    private readonly origin: string,
    private readonly rpId = 'localhost',
  ) {}

  /** The answer to options of `navigator.credentials.create`. */
  create({ challenge, user }: CreationOptions, lie: Falsehood = {}): Record<string, unknown> {
    this.userHandle = user.id;
    const { x, y } = this.keys.publicKey.export({ format: 'jwk' });
    const cose = Buffer.concat([
      Buffer.from('a5010203262001215820', 'hex'), Buffer.from(x!, 'base64url'), Buffer.from('225820', 'hex'), Buffer.from(y!, 'base64url'),
    ]);
    const id = Buffer.from(this.id, 'base64url');
    const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, cose]);
    const authData = Buffer.concat([this.data(ATTESTED, lie), attested]);
    const length = Buffer.alloc(2);
    length.writeUInt16BE(authData.length);
    const attestationObject = Buffer.concat([
      Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746159', 'hex'), length, authData,
    ]).toString('base64url');
    const clientDataJSON = this.client('webauthn.create', challenge, lie).toString('base64url');
    return this.answer({ clientDataJSON, attestationObject, transports: ['internal'] }, lie);
  }

  /** The answer to options of `navigator.credentials.get`. */
  get({ challenge }: { readonly challenge: string }, lie: Falsehood = {}): Record<string, unknown> {
    this.counter += 1;
    const authenticatorData = this.data(0, lie);
    const client = this.client('webauthn.get', challenge, lie);
    const signature = createSign('sha256').update(authenticatorData).update(sha256(client)).sign(this.keys.privateKey);
    return this.answer({
      authenticatorData: authenticatorData.toString('base64url'), clientDataJSON: client.toString('base64url'),
      signature: signature.toString('base64url'), userHandle: lie.userHandle ?? this.userHandle,
    }, lie);
  }

  private answer(response: Record<string, unknown>, lie: Falsehood): Record<string, unknown> {
    const id = lie.credentialId ?? this.id;
    return { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response };
  }

  private client(type: string, challenge: string, lie: Falsehood): Buffer {
    const said = { type: lie.type ?? type, challenge: lie.challenge ?? challenge, origin: lie.origin ?? this.origin, crossOrigin: false };
    return Buffer.from(JSON.stringify(said));
  }

  private data(flags: number, { rpId = this.rpId, counter = this.counter, verified = true }: Falsehood): Buffer {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    return Buffer.concat([sha256(rpId), Buffer.from([flags | PRESENT | (verified ? VERIFIED : 0)]), count]);
  }
}
