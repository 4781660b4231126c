/** A cache of at most `limit` things, the least recently used leaving first. What is compiled once need not be again. */
export class BoundedCache<Key, Value> {
  private readonly entries = new Map<Key, Value>();

  constructor(private readonly limit: number) {}

  get size(): number {
    return this.entries.size;
  }

  /** The cached value, or what `make` gives; a `make` that throws caches nothing. */
  get(key: Key, make: () => Value): Value {
    const known = this.entries.get(key);
    if (known !== undefined) {
      this.entries.delete(key);
      this.entries.set(key, known);
      return known;
    }
    const made = make();
    this.entries.set(key, made);
    if (this.entries.size > this.limit) {
      const [oldest] = this.entries.keys();
      this.entries.delete(oldest as Key);
    }
    return made;
  }
}
