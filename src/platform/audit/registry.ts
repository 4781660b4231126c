/** What modules register at start, for somebody who works with all of it and knows none of the modules. */
export abstract class Registry<Item> {
  private readonly items: Item[] = [];

  register(item: Item): void {
    this.items.push(item);
  }

  /** In the order of registration. */
  all(): readonly Item[] {
    return this.items;
  }
}
