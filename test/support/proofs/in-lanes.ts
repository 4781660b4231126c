/** Does it for each, so many at a time. @returns what came of each, in their order */
export async function inParallel<Item, Made>(
  lanes: number, items: readonly Item[], one: (item: Item, index: number) => Promise<Made>,
): Promise<Made[]> {
  const made: Made[] = new Array<Made>(items.length);
  let next = 0;
  await Promise.all(Array.from({ length: lanes }, async () => {
    for (let i = next++; i < items.length; i = next++) made[i] = await one(items[i]!, i);
  }));
  return made;
}
