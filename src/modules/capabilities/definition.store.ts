import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { CATALOGUE } from '../../domain/gate/catalogue.js';
import { nearestName } from '../../domain/nearest-name.js';
import type { Tx } from '../../platform/database/transaction/tx.js';
import { CapabilityDefinitionEntity } from './capability-definition.entity.js';
import { type Definition, allDefinitions, definitionFrom, isBuiltIn } from './definition.js';

/** Definitions of one organization. A definition is nobody's secret within it, so the organization is the whole scope. */
@Injectable()
export class DefinitionStore {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  async list(organizationId: string): Promise<Definition[]> {
    const rows = await this.dataSource.getRepository(CapabilityDefinitionEntity).findBy({ organizationId });
    return allDefinitions(rows);
  }

  /** What to say of a name that no definition has, the nearest one included; undefined where there is one. */
  async whyUnknown(organizationId: string, name: string, { manager }: Pick<Tx, 'manager'> = this.dataSource): Promise<string | undefined> {
    if (isBuiltIn(name)) return undefined;
    // Names alone: schemas and connectors may be large, and whoever is refused may ask again at once.
    const rows = await manager.getRepository(CapabilityDefinitionEntity).find({ select: { name: true }, where: { organizationId } });
    const names = [...rows.map((row) => row.name), ...CATALOGUE.map((entry) => entry.name)];
    if (names.includes(name)) return undefined;
    const nearest = nearestName(name, names);
    const meant = nearest === undefined ? '.' : `; did you mean "${nearest}"?`;
    return `There is no capability "${name}"${meant} GET /api/v1/capabilities lists all.`;
  }

  /** The organization's own rows alone, within a unit of work. */
  async listWithin(tx: Tx, organizationId: string): Promise<Definition[]> {
    const rows = await tx.manager.getRepository(CapabilityDefinitionEntity).findBy({ organizationId });
    return rows.map((row) => definitionFrom(row.name, row)!);
  }

  async find(tx: Tx, organizationId: string, name: string): Promise<Definition | undefined> {
    return definitionFrom(name, await this.row(tx, organizationId, name));
  }

  /** The organization's own row, locked against its removal until this work ends. */
  async findToGrant(tx: Tx, organizationId: string, name: string): Promise<Definition | undefined> {
    const row = await tx.manager
      .getRepository(CapabilityDefinitionEntity)
      .findOne({ where: { organizationId, name }, lock: { mode: 'pessimistic_read' } });
    return definitionFrom(name, row);
  }

  async row(tx: Tx, organizationId: string, name: string): Promise<CapabilityDefinitionEntity | null> {
    return tx.manager.getRepository(CapabilityDefinitionEntity).findOneBy({ organizationId, name });
  }

  async insert(tx: Tx, row: CapabilityDefinitionEntity): Promise<void> {
    await tx.manager.getRepository<object>(CapabilityDefinitionEntity).insert(row);
  }

  async replace(tx: Tx, row: CapabilityDefinitionEntity): Promise<void> {
    await tx.manager.getRepository<object>(CapabilityDefinitionEntity).upsert(row, ['organizationId', 'name']);
  }

  async remove(tx: Tx, organizationId: string, name: string): Promise<void> {
    await tx.manager.getRepository(CapabilityDefinitionEntity).delete({ organizationId, name });
  }
}
