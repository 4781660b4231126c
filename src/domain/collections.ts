/** The value of a key, made and kept where there is none yet (`Map.prototype.getOrInsertComputed` of ECMAScript, which Node.js lacks). */
export function getOrInsert<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** How many of the first items a test accepts, where it accepts none behind the first that it refuses (a binary search). */
export function partitionPoint<Item>(items: readonly Item[], isBefore: (item: Item) => boolean): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(items[middle]!)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What is made of an object, made once for each and kept as long as the object is. The object must not change. */
export function madeOnce<Key extends object, Made>(make: (key: Key) => Made): (key: Key) => Made {
  const kept = new WeakMap<Key, Made>();
  return (key) => {
    const known = kept.get(key);
    if (known !== undefined) return known;
    const made = make(key);
    kept.set(key, made);
    return made;
  };
}
