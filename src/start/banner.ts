/** What the person who started the server reads first. */
export interface BannerFacts {
  readonly version: string;
  /** Address for a person on this machine. */
  readonly url: string;
  /** Why it serves nobody yet: the database is held. */
  readonly held?: string;
  /** Folder of the embedded database, when there is one. */
  readonly dataDir?: string;
  /** A root key that was made just now and is to be shown, this once. */
  readonly rootKey?: string;
  /** Where a made root key was written instead. */
  readonly rootKeyFile?: string;
  /** What a first start asks its operator to think of: how long what is written is kept. */
  readonly keptFor?: string;
}

const REGISTRATION = JSON.stringify({ name: 'first-agent', grants: [{ capability: 'web.search' }] });

/** Three calls that work as printed, one after the other, in any POSIX shell. */
export function curlLines(url: string, rootKey: string | undefined): string[] {
  const authorization = `-H "Authorization: Bearer ${rootKey ?? '$COUNTERSIGN_KEY'}"`;
  return [
    `curl -s ${url}/health`,
    `curl -s ${url}/api/v1/agents ${authorization} -H "Content-Type: application/json" -d '${REGISTRATION}'`,
    `curl -s "${url}/api/v1/audit?limit=3" ${authorization}`,
  ];
}

export function banner(facts: BannerFacts, colour: boolean): string {
  const style = (code: number) => (text: string) => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);
  const [bold, dim, green, red] = [style(1), style(2), style(32), style(31)];
  const row = (name: string, value: string) => `  ${dim(name.padEnd(9))} ${value}`;
  const lines = [
    '',
    facts.held === undefined ? `  ${green('●')} ${bold(`Countersign ${facts.version}`)} is ready.`
      : `  ${red('●')} ${bold(`Countersign ${facts.version}`)} runs, and serves nobody: its database is held.\n\n  ${facts.held}`,
    '',
    row('Address', bold(facts.url)),
    row('API docs', `${facts.url}/docs`),
  ];
  if (facts.dataDir !== undefined) lines.push(row('Data', `${facts.dataDir} ${dim('(embedded database, for trials)')}`));
  if (facts.rootKey !== undefined) {
    lines.push(row('Root key', bold(facts.rootKey)), row('', 'Shown this once: keep it where only you can read it.'));
  } else if (facts.rootKeyFile !== undefined) lines.push(row('Root key', `written to ${facts.rootKeyFile}`));
  if (facts.keptFor !== undefined) lines.push(row('Disk', facts.keptFor));
  const hint = facts.rootKey === undefined ? dim(' (with the root key in the variable COUNTERSIGN_KEY)') : '';
  if (facts.held === undefined) lines.push('', `  Try it${hint}:`, '', ...curlLines(facts.url, facts.rootKey));
  lines.push('', dim('  Ctrl-C stops the server.'), '');
  return `${lines.join('\n')}\n`;
}
