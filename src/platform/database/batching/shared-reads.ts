/**
 * Reads of one thing that are asked for while one of it is under way share the next. So what anybody gets was read after they asked, and
 * however many ask at once, one read at a time goes on.
 */
export class SharedReads<Value> {
  private readonly underWay = new Map<string, Promise<unknown>>();
  private readonly next = new Map<string, Promise<Value>>();

  /** @param read is called once for all who share it */
  read(key: string, read: () => Promise<Value>): Promise<Value> {
    const shared = this.next.get(key);
    if (shared) return shared;
    const mine = this.afterThatOf(key).then(() => {
      this.next.delete(key);
      const begun = read();
      const ended = begun.catch(() => undefined).then(() => {
        if (this.underWay.get(key) === ended) this.underWay.delete(key);
      });
      this.underWay.set(key, ended);
      return begun;
    });
    this.next.set(key, mine);
    return mine;
  }

  private async afterThatOf(key: string): Promise<void> {
    await this.underWay.get(key);
  }
}
