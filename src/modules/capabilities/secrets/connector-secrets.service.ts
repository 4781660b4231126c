import { Injectable } from '@nestjs/common';
import { type Connector, originOf, secretNames, type SecretValues } from '../../../domain/gate/connector.js';
import { secretsIn } from '../../../domain/gate/connector-template.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { SealedBox } from '../../../platform/secrets/sealed-box.js';
import { SecretStore } from './secret.store.js';

export type OpenedSecrets = { readonly ok: true; readonly values: SecretValues } | { readonly ok: false; readonly message: string };

const NONE: OpenedSecrets = { ok: true, values: new Map() };

/** Secrets for the calls of connectors: whether a connector may have them, and their values just before a call. */
@Injectable()
export class ConnectorSecrets {
  constructor(
    private readonly secrets: SecretStore,
    private readonly box: SealedBox,
  ) {}

  /** Seals a value for organization, name and origins, and for nothing else. */
  seal(organizationId: string, name: string, origins: readonly string[], value: string): Buffer {
    return this.box.seal('secrets', aadOf(organizationId, name, origins), Buffer.from(value, 'utf8'));
  }

  /**
   * The values of those that a connector names, as they are now. Whether the connector may have them is looked at here again: since it
   * was defined, a secret may have gone, or have got other origins.
   */
  async open(organizationId: string, connector: Connector): Promise<OpenedSecrets> {
    const names = secretNames(connector);
    if (names.length === 0) return NONE;
    const rows = await this.secrets.find(organizationId, names).catch(() => undefined);
    if (rows === undefined) return refused('The secrets could not be read.');
    const origin = originOf(connector);
    const values = new Map<string, string>();
    for (const name of names) {
      const row = rows.find((one) => one.name === name);
      if (!row) return refused(`There is no secret "${name}".`);
      if (origin === undefined || !row.origins.includes(origin)) return refused(`The secret "${name}" is not for ${origin}.`);
      const value = this.box.open('secrets', aadOf(organizationId, name, row.origins), row.sealed);
      if (value === undefined) return refused(`The secret "${name}" does not open: it was not sealed here, or was changed since.`);
      values.set(name, value.toString('utf8'));
    }
    return { ok: true, values };
  }

  /** @throws Problem VALIDATION_FAILED for a secret that there is not, UNSAFE_URL for one that is not for the connector's origin */
  async assertUsable(organizationId: string, connector: Connector, tx?: Tx): Promise<void> {
    const names = secretNames(connector);
    if (names.length === 0) return;
    const terms = tx ? await this.secrets.read(tx, organizationId, names) : await this.secrets.find(organizationId, names);
    const origin = originOf(connector)!;
    const references = referencesOf(connector).map((at) => ({ ...at, found: terms.find(({ name }) => name === at.name) }));
    const missing = references.filter(({ found }) => !found);
    const foreign = references.filter(({ found }) => found && !found.origins.includes(origin));
    if (missing.length > 0) {
      const errors = missing.map(({ pointer, name }) => ({ pointer, message: `names the secret "${name}", which there is not` }));
      throw new Problem('VALIDATION_FAILED', 'The connector names a secret that there is not: PUT /api/v1/secrets/:secret.', { errors });
    }
    if (foreign.length > 0) {
      const errors = foreign.map(({ pointer, name }) => ({ pointer, message: `names the secret "${name}", not for ${origin}` }));
      throw new Problem('UNSAFE_URL', `A secret that the connector names is not for ${origin}.`, { errors });
    }
  }
}

function refused(message: string): OpenedSecrets {
  return { ok: false, message };
}

/** What a secret is sealed for. */
export function aadOf(organizationId: string, name: string, origins: readonly string[]): string {
  return JSON.stringify([organizationId, name, origins]);
}

/** Where a connector names which secret. */
function referencesOf(connector: Connector): { readonly pointer: string; readonly name: string }[] {
  if (connector.type === 'email' || connector.type === 'node') return [];
  const texts = Object.entries(connector.headers ?? {}).map(([name, text]) => ({ pointer: `/connector/headers/${name}`, text }));
  const body = connector.type === 'http' && connector.body !== undefined ? JSON.stringify(connector.body) : '';
  return [...texts, { pointer: '/connector/body', text: body }].flatMap(({ pointer, text }) =>
    secretsIn(text).map((name) => ({ pointer, name })));
}
