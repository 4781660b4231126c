import { platformChain } from '../../domain/audit/entry/chain.js';
import { keptFingerprint, replaceFingerprint } from '../../modules/organizations/installation/fingerprints.store.js';
import { keptText, parseKept, type KeptFingerprint } from '../../modules/organizations/installation/kept-fingerprint.js';
import { asService } from '../../platform/auth/access/call-context.js';
import type { RunStatement } from '../../platform/auth/credentials/credential-source.js';
import { givenSecrets, type Config, type ServerSecrets } from '../../platform/config/config.js';
import { StartRefused } from '../../platform/config/start-refused.js';
import { commandWork } from '../../platform/database/transaction/command-work.js';
import { embeddedSecrets, freshSecret, replaceSecretFile } from '../../platform/embedded/secret-files.js';
import { fingerprintOf, idOfFingerprint } from '../../platform/secrets/fingerprint.js';
import { NEVER_SET_UP } from '../command-output.js';
import { countOthers, resealAll, rowsByKey } from './reseal.query.js';

const MEMBERS = { JWT_SECRET: 'jwtSecret', ENCRYPTION_KEY: 'encryptionKey' } as const;

export type SecretName = keyof typeof MEMBERS;

type Source = Parameters<typeof resealAll>[0];

const OTHER_SECRETS = 'is not the one in use at the servers here: give this command what they have';
const MEANWHILE = 'somebody else has taken a step meanwhile: run it again';

/** For a reader, and as members for a program. */
export interface Answer {
  readonly text: string;
  readonly members: object;
}

/** Replacing a secret, as one command after the other sees it: where it stands is kept in the database, beside the fingerprint. */
export class Rotation {
  private readonly run: RunStatement;

  private constructor(private readonly config: Config, private readonly secrets: ServerSecrets, private readonly dataSource: Source) {
    this.run = (sql, parameters) => dataSource.query(sql, [...parameters]);
  }

  static async of(config: Config, dataSource: Source): Promise<Rotation> {
    return new Rotation(config, config.embedded ? embeddedSecrets(config, true) : givenSecrets(config), dataSource);
  }

  /** @throws StartRefused where the step cannot be taken yet */
  async step(name: SecretName, { end = false, leaked = false }: { end?: boolean; leaked?: boolean }): Promise<Answer> {
    const text = await this.kept(name);
    const kept = parseKept(text);
    if (kept.former === undefined) {
      if (end) throw new StartRefused(`${name}: nothing is to be ended, since no successor is in use yet`);
      if (this.isBesideTheDatabase(name)) return { text: await this.begin(name, text, kept), members: { name, state: 'begun' } };
      const members = { name, state: kept.next === undefined ? 'none' : 'accepted' };
      return { text: `${firstSteps(name, kept)}${leaked ? LEAKED : ''}`, members };
    }
    if (end || leaked) return { text: await this.end(name, text, kept, leaked), members: { name, state: 'ended' } };
    const endsAt = new Date(this.endOf(name, kept.former.since) * 1_000);
    return { text: lastSteps(name, endsAt), members: { name, state: 'in use', endsAt } };
  }

  async reseal(say: (line: string) => void): Promise<Answer> {
    const { inUse } = parseKept(await this.kept('ENCRYPTION_KEY'));
    if (fingerprintOf(this.secrets.encryptionKey) !== inUse) throw new StartRefused(`ENCRYPTION_KEY: ${OTHER_SECRETS}`);
    let told = 0;
    const { resealed, unreadable, left } = await resealAll(this.dataSource, this.secrets, (done) => {
      if (done - told < 1_000) return;
      told = done;
      say(`${done} rows are sealed anew`);
    });
    const keyId = idOfFingerprint(inUse);
    const text = `${resealed} rows were sealed anew by key ${keyId}.\n`;
    const event = { secretName: 'ENCRYPTION_KEY', step: 'resealed', keyId, rows: resealed };
    if (resealed > 0) await this.recording(async () => event);
    if (unreadable + left === 0) return { text, members: { resealed } };
    throw new StartRefused(`${text.trim()} ${unreadable} open by no key that is given here (ENCRYPTION_KEY_ACCEPTED: the former one), and `
      + `${left} were held by servers: run it again`);
  }

  async status(): Promise<Answer> {
    const rows = await rowsByKey(this.dataSource);
    const found = await Promise.all((Object.keys(MEMBERS) as SecretName[]).map(async (name) => {
      const { inUse, next, former } = parseKept(await this.kept(name));
      const idOf = (fingerprint: string | undefined) => (fingerprint === undefined ? undefined : idOfFingerprint(fingerprint));
      const ids = { inUse: idOfFingerprint(inUse), next: idOf(next), former: idOf(former?.fingerprint) };
      if (name === 'JWT_SECRET') return { name, ...ids };
      const of = (id: string | undefined) => (id === undefined ? 0 : rows.get(id) ?? 0);
      const all = [...rows.values()].reduce((sum, count) => sum + count, 0);
      const [byInUse, byNext, byFormer] = [of(ids.inUse), of(ids.next), of(ids.former)];
      return { name, ...ids, rows: { inUse: byInUse, next: byNext, former: byFormer, withoutKeyId: all - byInUse - byNext - byFormer } };
    }));
    const text = found.map(({ name, inUse, next, former, ...more }) => [
      `  ${name.padEnd(14)}  key ${inUse} is in use`, ...(next === undefined ? [] : [`${next} is accepted, and next`]),
      ...(former === undefined ? [] : [`${former} was before it, and still counts`]),
      ...('rows' in more ? [`rows sealed by it: ${more.rows.inUse}, by the former one: ${more.rows.former}, without a key's id: `
        + String(more.rows.withoutKeyId)] : []),
    ].join('; ')).join('\n').concat('\n');
    return { text, members: { secrets: found } };
  }

  /** Beside the embedded database, of which there is one server: the next one is made, and in use from the next start on. */
  private async begin(name: SecretName, text: string, kept: KeptFingerprint): Promise<string> {
    const member = MEMBERS[name];
    const present = this.secrets[member];
    if (fingerprintOf(present) === kept.inUse) {
      const next = freshSecret(member);
      // Known to the database first: killed in between, the server starts with the file as it was.
      await this.replace(name, text, { ...kept, next: fingerprintOf(next) }, 'accepted', fingerprintOf(next));
      replaceSecretFile(this.config.dataDir, member, [next, present]);
    } else if (fingerprintOf(present) !== kept.next) throw new StartRefused(`${name}: ${OTHER_SECRETS}`);
    return `Start the server again: from then on ${name} is a new one, and the former one still counts. Then run this command again.\n`;
  }

  private async end(name: SecretName, text: string, kept: KeptFingerprint, leaked: boolean): Promise<string> {
    const { fingerprint, since } = kept.former!;
    const member = MEMBERS[name];
    if (fingerprintOf(this.secrets[member]) !== kept.inUse) throw new StartRefused(`${name}: ${OTHER_SECRETS}`);
    const until = this.endOf(name, since);
    if (!leaked && Date.now() < until * 1_000) {
      throw new StartRefused(`${name}: what was made with the former one counts until ${new Date(until * 1_000).toISOString()}; `
        + 'end it then, or at once by --leaked');
    }
    if (name === 'ENCRYPTION_KEY') {
      const { encryptionKeyAccepted: accepted } = this.secrets;
      if (accepted === undefined || fingerprintOf(accepted) !== fingerprint) {
        throw new StartRefused('ENCRYPTION_KEY_ACCEPTED: the former one is needed, to see whether anything is still sealed by it');
      }
      const others = await countOthers(this.dataSource, this.secrets);
      if (others > 0) throw new StartRefused(`ENCRYPTION_KEY: ${others} rows are not sealed by it yet: \`countersign secrets reseal\``);
    }
    const left = { inUse: kept.inUse, leaked: leaked ? [...kept.leaked, fingerprint] : kept.leaked };
    await this.replace(name, text, left, leaked ? 'leaked' : 'ended', fingerprint);
    const ended = `The former ${name} counts no more.`;
    if (!this.isBesideTheDatabase(name)) return `${ended} Leave ${name}_ACCEPTED out, and start the servers again one after the other.\n`;
    replaceSecretFile(this.config.dataDir, member, [this.secrets[member]]);
    return `${ended} It is no more beside the embedded database.\n`;
  }

  /** When the last of what was made with the former one has ended, in Unix seconds. */
  private endOf(name: SecretName, since: number): number {
    const { agentJwtMax, agentRefreshWindow } = this.config;
    return since + (name === 'JWT_SECRET' ? agentJwtMax + agentRefreshWindow : CARRIED_SECONDS);
  }

  private isBesideTheDatabase(name: SecretName): boolean {
    return this.config.embedded && this.config[MEMBERS[name]] === undefined;
  }

  private async kept(name: SecretName): Promise<string> {
    const kept = await keptFingerprint(this.run, name);
    if (kept === undefined) throw new StartRefused(NEVER_SET_UP);
    return kept;
  }

  private async replace(name: SecretName, from: string, to: KeptFingerprint, step: string, about: string): Promise<void> {
    await this.recording(async (run) => {
      if (!(await replaceFingerprint(run, name, from, keptText(to)))) throw new StartRefused(MEANWHILE);
      return { secretName: name, step, keyId: idOfFingerprint(about) };
    });
  }

  /** In one commit with what the event tells. */
  private async recording(work: (run: RunStatement) => Promise<Parameters<typeof rotated>[0]>): Promise<void> {
    await asService('cli', () => commandWork(this.dataSource).run({ chains: [platformChain()], leavesFacts: true }, async (tx) => {
      tx.record(platformChain(), rotated(await work((sql, parameters) => tx.query(sql, parameters))));
    }));
  }
}

function rotated(metadata: { secretName: string; step: string; keyId: string; rows?: number }) {
  return { type: 'admin.secret_rotated', metadata } as const;
}

/** What browsers and chats carry sealed is good for so long. */
const CARRIED_SECONDS = 600;

const LEAKED = 'It has leaked: do not wait between the steps, and end with --leaked.\n';

function firstSteps(name: SecretName, { next }: KeptFingerprint): string {
  const [first, second] = [
    '1. Make a new one (`node bin/countersign.mjs secrets`). '
      + `Set it as ${name}_ACCEPTED at every server; start them again one after the other.`,
    `2. When every server has it: set it as ${name}, the one before as ${name}_ACCEPTED; start them again one after the other.`,
  ];
  return `${next === undefined ? `${first}\n${second}` : `Key ${idOfFingerprint(next)} is accepted by a server.\n${second}`}\n`
    + `Then run this command again: it says what is left.\n`;
}

function lastSteps(name: SecretName, ends: Date): string {
  const what = name === 'ENCRYPTION_KEY' ? '3. `node bin/countersign.mjs secrets reseal` seals anew what the former one has sealed.\n' : '';
  const last = `\`node bin/countersign.mjs secrets rotate ${name} --end\`, from ${ends.toISOString()} on, or \`--leaked\` at once.`;
  return `The new ${name} is in use; the former one still counts. When every server has started with both:\n${what}`
    + `${name === 'ENCRYPTION_KEY' ? 4 : 3}. ${last}\n`;
}
