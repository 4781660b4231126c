import type { OrganizationFacts } from '../state/organization-facts.js';

/** Organizations of one tenant are one house: its owners act in each of them. Who is told of where, and which belong together. */
export class Houses {
  private readonly byTenant = new Map<string, Set<OrganizationFacts>>();
  /** Tenants of which one organization, at least, was cut. */
  private readonly cut = new Set<string>();
  /** Organizations that tell of an account, by its id: as servers write it, one. */
  private readonly homes = new Map<string, Set<OrganizationFacts>>();

  /** @param userId of the account that it tells of now */
  told(facts: OrganizationFacts, userId: string | undefined): void {
    const tenant = facts.tenantAs('at best');
    if (tenant !== undefined) {
      addTo(this.byTenant, tenant, facts);
      if (!facts.isWhole) this.cut.add(tenant);
    }
    if (userId !== undefined) addTo(this.homes, userId, facts);
  }

  organizationsOf(tenant: string): Iterable<OrganizationFacts> {
    return this.byTenant.get(tenant) ?? [];
  }

  isCut(tenant: string): boolean {
    return this.cut.has(tenant);
  }

  /** Undefined where nobody tells of the account. */
  homesOf(userId: string): ReadonlySet<OrganizationFacts> | undefined {
    return this.homes.get(userId);
  }
}

function addTo<Item>(sets: Map<string, Set<Item>>, name: string, item: Item): void {
  const set = sets.get(name);
  if (set) set.add(item);
  else sets.set(name, new Set([item]));
}
