const WIDTH = 30;

/** One line on a terminal: how far, and what comes out so far. In a pipe a line for each thing that is begun. */
export class Progress {
  private done = 0;
  private total = 1;
  private title = '';

  constructor(private readonly stream: NodeJS.WriteStream) {}

  begin(title: string, total: number): void {
    this.title = title;
    this.total = total;
    this.done = 0;
    if (!this.stream.isTTY) this.stream.write(`  ${title} …\n`);
    this.show('');
  }

  step(note = '', by = 1): void {
    this.done += by;
    this.show(note);
  }

  to(share: number): void {
    this.done = share * this.total;
    this.show('');
  }

  clear(): void {
    if (this.stream.isTTY) this.stream.write('\r\u001b[2K');
  }

  private show(note: string): void {
    if (!this.stream.isTTY) return;
    const filled = Math.round(Math.min(1, this.done / this.total) * WIDTH);
    const line = `  ${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)}  ${this.title}  ${note}`;
    this.stream.write(`\r\u001b[2K${line.slice(0, this.stream.columns - 1)}`);
  }
}
