// Erases by the product's holders of personal data, and tells what they know, when it is asked to.
import { PersonalDataHolders } from '../../../dist/src/platform/audit/personal-data/personal-data-holders.js';
import { app, obey, within } from '../servers/product.mjs';

const holders = app.get(PersonalDataHolders).all();

/** All parts of what a holder knows, the lists of each behind those of the one before. */
async function whole(holder, tx, organizationId, userId) {
  const known = {};
  const person = { id: userId, organizations: [organizationId], run: (sql, parameters) => tx.query(sql, parameters) };
  for await (const part of holder.about(person)) {
    for (const [name, value] of Object.entries(part)) known[name] = Array.isArray(value) ? [...(known[name] ?? []), ...value] : value;
  }
  return known;
}

obey({
  holders: async () => holders.map(({ name, tables }) => ({ name, tables })),
  /** One pass through all holders, each to its end. */
  erase: async (what, limit) => {
    const counts = {};
    let calls = 0;
    for (const holder of holders) {
      let after;
      do {
        const erased = await within(what.organizationId, (tx) => holder.erase(tx, what, limit, after));
        for (const [kind, count] of Object.entries(erased.counts)) counts[kind] = (counts[kind] ?? 0) + count;
        after = erased.next;
        calls++;
      } while (after !== undefined);
    }
    return { counts, calls };
  },
  about: async (organizationId, userId) => {
    const known = {};
    for (const holder of holders) known[holder.name] = await within(organizationId, (tx) => whole(holder, tx, organizationId, userId));
    return known;
  },
});
