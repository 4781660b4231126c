/** What the test provider keeps, for all providers of its process: keys rotate by building it anew, and its users stay signed in. */
const rows = new Map();
const members = new Map();

export class Memory {
  constructor(model) {
    this.model = model;
  }

  async upsert(id, payload, expiresIn) {
    rows.set(this.key(id), { payload, until: expiresIn === undefined ? Infinity : Date.now() + expiresIn * 1_000 });
    if (payload.grantId === undefined || this.model === 'Grant' || this.model === 'Session') return;
    if (!members.has(payload.grantId)) members.set(payload.grantId, new Set());
    members.get(payload.grantId).add(this.key(id));
  }

  async find(id) {
    const row = rows.get(this.key(id));
    return row !== undefined && row.until > Date.now() ? row.payload : undefined;
  }

  async findByUid(uid) {
    for (const [key, { payload }] of rows) if (key.startsWith('Session ') && payload.uid === uid) return payload;
    return undefined;
  }

  async findByUserCode() {
    return undefined;
  }

  async consume(id) {
    rows.get(this.key(id)).payload.consumed = Math.floor(Date.now() / 1_000);
  }

  async destroy(id) {
    rows.delete(this.key(id));
  }

  async revokeByGrantId(grantId) {
    for (const key of members.get(grantId) ?? []) rows.delete(key);
    members.delete(grantId);
  }

  key(id) {
    return `${this.model} ${id}`;
  }
}
